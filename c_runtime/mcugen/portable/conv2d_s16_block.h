/* SPDX-License-Identifier: Apache-2.0
 *
 * The inner part of the convolutions of int16.
 */
/* Copies:
 * s16 -> s8, int16 -> int8, mg_s16 -> int8_t
 */
#ifndef MCUGEN_CONV2D_S16_BLOCK_H
#define MCUGEN_CONV2D_S16_BLOCK_H

#include "mcugen/conv2d_s16.h"

typedef mg_s16 mg_conv2d_s16_x;
typedef int8_t mg_conv2d_s16_w;
typedef int32_t mg_conv2d_s16_acc;

#define MG_TYPE conv2d_s16
#include "mcugen/filter_s16_template.h"
#include "mcugen/conv2d_block_template.h"
#undef MG_TYPE

#endif /* MCUGEN_CONV2D_S16_BLOCK_H */
