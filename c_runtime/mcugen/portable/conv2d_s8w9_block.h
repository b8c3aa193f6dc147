/* SPDX-License-Identifier: Apache-2.0
 *
 * The inner part of the convolutions of conv2d_s8w9.h.
 */
/* Copies of this file, one a line, with these words replaced:
 * s8w9 -> s8w9_line, filter_s8 -> filter_line
 */
#ifndef MCUGEN_CONV2D_S8W9_BLOCK_H
#define MCUGEN_CONV2D_S8W9_BLOCK_H

#include "mcugen/conv2d_s8w9.h"

typedef int8_t mg_conv2d_s8w9_x;
typedef uint8_t mg_conv2d_s8w9_w;
typedef int32_t mg_conv2d_s8w9_acc;

#define MG_TYPE conv2d_s8w9
#define MG_NINE
#include "mcugen/filter_s8_template.h"
#include "mcugen/conv2d_block_template.h"
#undef MG_TYPE
#undef MG_NINE

#endif /* MCUGEN_CONV2D_S8W9_BLOCK_H */
