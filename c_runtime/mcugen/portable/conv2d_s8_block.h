/* SPDX-License-Identifier: Apache-2.0
 *
 * The inner part of the convolutions of int8.
 */
#ifndef MCUGEN_CONV2D_S8_BLOCK_H
#define MCUGEN_CONV2D_S8_BLOCK_H

#include "mcugen/conv2d_s8.h"

typedef int8_t mg_conv2d_s8_x;
typedef int8_t mg_conv2d_s8_w;
typedef int32_t mg_conv2d_s8_acc;

#define MG_TYPE conv2d_s8
#include "mcugen/filter_s8_template.h"
#include "mcugen/conv2d_block_template.h"
#undef MG_TYPE

#endif /* MCUGEN_CONV2D_S8_BLOCK_H */
