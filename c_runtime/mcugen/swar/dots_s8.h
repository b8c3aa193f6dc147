/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolutions and fully connected layers on int8 data with int8 weights, for cores without SIMD: four outputs at a
 * time.
 *
 *   sum = sum over taps of w[o] * x
 *   y[o] = clamp(requantize(bias[o] + sum, mult, shift) + out_zero_point)
 *
 * x       int8 [n][taps], or rows of in_w * in_c; stored values, the zero point is folded into the bias
 * weights [outputs][taps]; outputs is at least 4
 * mult, shift  one entry for all outputs, or one per output: scale_stride is 0 or 1; shifts are to the right
 * sums    cannot leave 32 bits: proved when the code is generated
 * Equals the reference runtime's FullyConnected and Conv2D for int8 data with double rounding.
 */
#ifndef MCUGEN_DOTS_S8_H
#define MCUGEN_DOTS_S8_H

#include "mcugen/filter.h"

typedef struct {
    const int8_t *weights;
    const int32_t *bias, *mult;
    const int8_t *shift;
    MG_WINDOW_FIELDS
    int16_t in_zero_point, out_zero_point, out_min, out_max;
    uint8_t scale_stride;
    uint32_t taps, outputs;
} mg_dots_s8_params;

/* Computes n vectors, or pixels of a 1x1 convolution with stride 1. in: n * taps, out: n * outputs. */
void mg_fully_connected_s8__dots(const mg_dots_s8_params *p, const int8_t *in, int8_t *out, uint32_t n);

/* Computes one output row. rows: kernel_h input rows; rows outside the image are filled with in_zero_point.
 * out: out_w * outputs. scratch: taps bytes. */
void mg_conv2d_s8__dots(const mg_dots_s8_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, void *scratch);

#endif /* MCUGEN_DOTS_S8_H */
