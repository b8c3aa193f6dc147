/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of float images with float weights on x86-64.
 *
 *   y[o] = clamp(bias[o] + sum over taps and channels of w[o] * x)
 *
 * in      float [rows of in_len]
 * row     float [row_len]: `before` zeros, a row of the image, zeros up to the end
 * dense   the window on these rows, see simd_floats.h
 * Follows Conv2D.reference within rounding.
 */
#ifndef MCUGEN_SIMD_CONV_F32_H
#define MCUGEN_SIMD_CONV_F32_H

#include "mcugen/simd_floats.h"

typedef struct {
    mg_simd_floats dense;
    uint32_t in_len, before, row_len, out_w;
} mg_simd_conv_f32_params;

void mg_conv2d_f32__fma_row(const mg_simd_conv_f32_params *p, const mg_f32 *in, mg_f32 *row);
void mg_conv2d_f32__fma(const mg_simd_conv_f32_params *p, const mg_f32 *const *rows, mg_f32 *out);

#endif /* MCUGEN_SIMD_CONV_F32_H */
