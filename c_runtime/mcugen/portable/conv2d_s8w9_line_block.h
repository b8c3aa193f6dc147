/* SPDX-License-Identifier: Apache-2.0
 *
 * The inner part of the convolutions of int8 data with weights of nine bits stored in eight, each result rounded once.
 */
#ifndef MCUGEN_CONV2D_S8W9_LINE_BLOCK_H
#define MCUGEN_CONV2D_S8W9_LINE_BLOCK_H

#include "mcugen/conv2d_s8w9_line.h"

typedef int8_t mg_conv2d_s8w9_line_x;
typedef uint8_t mg_conv2d_s8w9_line_w;
typedef int32_t mg_conv2d_s8w9_line_acc;

#define MG_TYPE conv2d_s8w9_line
#define MG_NINE
#include "mcugen/filter_line_template.h"
#include "mcugen/conv2d_block_template.h"
#undef MG_TYPE
#undef MG_NINE

#endif /* MCUGEN_CONV2D_S8W9_LINE_BLOCK_H */
