/* SPDX-License-Identifier: Apache-2.0
 *
 * Largest value of a sliding window over float images of 16 channels or more on application cores; taps outside the image are
 * ignored.
 *
 *   y[c] = clamp(max over the taps inside of x[c])
 *
 * Equals MaxPool2D.reference.
 */
#ifndef MCUGEN_SIMD_MAX_POOL_F32_H
#define MCUGEN_SIMD_MAX_POOL_F32_H

#include "mcugen/simd_floats.h"

typedef struct {
    uint32_t kernel_h, kernel_w;
    uint32_t stride_h, stride_w;
    uint32_t pad_h, pad_w;
    uint32_t in_h, in_w;
    uint32_t out_w, channels;
    float out_min, out_max;
} mg_simd_max_pool_f32_params;

/* Computes output row y. rows: kernel_h input rows; rows outside the image are not read. out: out_w * channels. */
void mg_max_pool_2d_f32__fma(const mg_simd_max_pool_f32_params *p, const mg_f32 *const *rows, uint32_t y, mg_f32 *out);

#endif /* MCUGEN_SIMD_MAX_POOL_F32_H */
