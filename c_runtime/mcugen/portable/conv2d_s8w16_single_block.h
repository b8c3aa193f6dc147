/* SPDX-License-Identifier: Apache-2.0
 *
 * The inner part of the convolutions of int8 data with int16 weights, sums scaled by a float32.
 */
/* Copies:
 * s8w16 -> s8, int16 -> int8
 */
#ifndef MCUGEN_CONV2D_S8W16_SINGLE_BLOCK_H
#define MCUGEN_CONV2D_S8W16_SINGLE_BLOCK_H

#include "mcugen/conv2d_s8w16_single.h"

typedef int8_t mg_conv2d_s8w16_single_x;
typedef int16_t mg_conv2d_s8w16_single_w;
typedef int32_t mg_conv2d_s8w16_single_acc;

#define MG_TYPE conv2d_s8w16_single
#include "mcugen/filter_single_template.h"
#include "mcugen/conv2d_block_template.h"
#undef MG_TYPE

#endif /* MCUGEN_CONV2D_S8W16_SINGLE_BLOCK_H */
