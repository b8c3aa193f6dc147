/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution of int16 images with int8 weights, one multiplier per output channel.
 *
 *   sum = sum over taps of w[o] * x[o / depth_multiplier]
 *   y[o] = clamp(requantize(bias[o] + sum, mult[o], shift[o]) + out_zero_point)
 *
 * x       int16 [rows of in_w * in_c]
 * weights depth_multiplier 1: blocks of four channels interleaved, [in_c / 4][kernel_h][kernel_w][4], then single
 *         channels [kernel_h][kernel_w]; other multipliers: single channels only
 * sums    cannot leave 32 bits: proved when the code is generated
 *         __acc64 kernels: sums of any size, wrapped to 32 bits unless wide
 * Equals the reference runtime's DepthwiseConv2D for int16 data (wide: 16-bit multiplier and one rounding).
 */
#ifndef MCUGEN_DEPTHWISE_CONV2D_S16_H
#define MCUGEN_DEPTHWISE_CONV2D_S16_H

#include "mcugen/filter.h"

typedef struct {
    const int8_t *weights;
    const int64_t *bias;
    MG_WINDOW_FIELDS
    MG_INTEGER_FIELDS
    uint8_t wide;
    uint16_t depth_multiplier;
} mg_depthwise_conv2d_s16_params;

/* Computes one output row. rows: kernel_h input rows; rows outside the image are filled with zeros.
 * out: out_w * out_c. */
void mg_depthwise_conv2d_s16(const mg_depthwise_conv2d_s16_params *p, const mg_s16 *const *rows, uint32_t y, mg_s16 *out);
void mg_depthwise_conv2d_s16__acc64(const mg_depthwise_conv2d_s16_params *p, const mg_s16 *const *rows, uint32_t y, mg_s16 *out);

#endif /* MCUGEN_DEPTHWISE_CONV2D_S16_H */
