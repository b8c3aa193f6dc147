/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution of int8 images with int16 weights, sums scaled by a float32.
 *
 *   sum = sum over taps of w[o] * x[o / depth_multiplier]
 *   y[o] = single[o](bias[o] + sum), which scales in float32: single.h
 *
 * x       [rows of in_w * in_c]; stored values, the zero point is in the bias: bias - in_zero_point * sum(w)
 * weights depth_multiplier 1: blocks of four channels interleaved, [in_c / 4][kernel_h][kernel_w][4], then single
 *         channels [kernel_h][kernel_w]; other multipliers: single channels only
 * sums    cannot leave 32 bits: proved when the code is generated
 */
/* Copies of this file, one a line, with these words replaced:
 * s8w16 -> s8, int16 weights -> int8 weights, int16_t *weights -> int8_t *weights
 */
#ifndef MCUGEN_DEPTHWISE_CONV2D_S8W16_SINGLE_H
#define MCUGEN_DEPTHWISE_CONV2D_S8W16_SINGLE_H

#include "mcugen/filter.h"
#include "mcugen/single.h"

typedef struct {
    const int16_t *weights;
    const int32_t *bias;
    mg_single single;
    MG_WINDOW_FIELDS
    int16_t in_zero_point;
    uint16_t depth_multiplier;
} mg_depthwise_conv2d_s8w16_single_params;

/* Computes one output row. rows: kernel_h input rows; rows outside the image are filled with in_zero_point.
 * out: out_w * out_c. */
void mg_depthwise_conv2d_s8w16_single(const mg_depthwise_conv2d_s8w16_single_params *p, const int8_t *const *rows, uint32_t y, int8_t *out);

#endif /* MCUGEN_DEPTHWISE_CONV2D_S8W16_SINGLE_H */
