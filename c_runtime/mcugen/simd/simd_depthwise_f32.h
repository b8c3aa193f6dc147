/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution of float images on x86-64, each input channel with one output channel.
 *
 *   y[c] = clamp(bias[c] + sum over taps of w[c] * x[c])
 *
 * in       float [rows of in_len]
 * row      float [row_len]: `before` zeros, a row of the image, zeros up to the end
 * weights  [tiles][count][16]: 16 channels at a time, filled up with zeros
 * bias     [tiles][16]
 * taps     uint32 [count]: for each tap the row of the window, and from bit 8 on the elements from the first output's
 *          first column to the tap's
 * step     elements from an output's first column to the next output's
 * pixels, channels, tiles  outputs of a row, their channels, and blocks of 16 of these. A row of few channels is taken
 *          as pixels of 16 channels
 * Follows DepthwiseConv2D.reference within rounding.
 */
#ifndef MCUGEN_SIMD_DEPTHWISE_F32_H
#define MCUGEN_SIMD_DEPTHWISE_F32_H

#include "mcugen/simd_floats.h"

#define MG_SIMD_MOST_TAPS 128u

typedef struct {
    const float *weights, *bias;
    const uint32_t *taps;
    float out_min, out_max;
    uint32_t in_len, before, row_len;
    uint32_t count, step, pixels, channels, tiles;
} mg_simd_depthwise_f32_params;

void mg_depthwise_conv2d_f32__fma_row(const mg_simd_depthwise_f32_params *p, const mg_f32 *in, mg_f32 *row);
void mg_depthwise_conv2d_f32__fma(const mg_simd_depthwise_f32_params *p, const mg_f32 *const *rows, mg_f32 *out);

#endif /* MCUGEN_SIMD_DEPTHWISE_F32_H */
