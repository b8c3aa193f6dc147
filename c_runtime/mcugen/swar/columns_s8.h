/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution of narrow int8 images with 3x3 taps, for cores without SIMD: all outputs of a row at a time.
 *
 *   sum = bias[o] + sum over taps of w[o] * x[o]
 *   y[o] = clamp(((sum * low >> 13) + sum * high + rounding) >> shift, 0, span) + least
 *
 * x       int8 [rows of channels]: stored values; their zero point is folded into the bias
 * stream  per channel: bias of the first output of a row, of inner outputs, of the last output; 9 weights; high,
 *         rounding, and low + 65536 * shift; low and high have 13 bits
 * sums    are below 2^18: proved when the code is generated
 * Equals the reference runtime's DepthwiseConv2D for int8 data, for all possible sums: proved when the code is
 * generated.
 */
#ifndef MCUGEN_COLUMNS_S8_H
#define MCUGEN_COLUMNS_S8_H

#include "mcugen/variant.h"

typedef struct {
    const uint32_t *stream;
} mg_columns_s8_params;

/* Computes one output row. rows: 3 input rows; rows outside the image are filled with the input's zero point. */
#define MG_DECLARE_depthwise_conv2d_s8__columns(f) \
    MG_LINKAGE void f(const mg_columns_s8_params *p, const int8_t *const *rows, uint32_t y, int8_t *out)

#endif /* MCUGEN_COLUMNS_S8_H */
