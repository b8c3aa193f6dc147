/* SPDX-License-Identifier: Apache-2.0
 *
 * Mean of a sliding window over float images; taps outside the image are not counted.
 *
 *   y[c] = clamp(sum of x[c] over the n taps inside the image / n)
 */
#ifndef MCUGEN_AVERAGE_POOL_2D_F32_H
#define MCUGEN_AVERAGE_POOL_2D_F32_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t kernel_h, kernel_w;
    uint32_t stride_h, stride_w;
    uint32_t pad_h, pad_w;
    uint32_t in_h, in_w;
    uint32_t out_w, channels;
    float out_min, out_max;
} mg_average_pool_2d_f32_params;

/* Computes output row y. rows: kernel_h input rows; rows outside the image are not read. out: out_w * channels. */
void mg_average_pool_2d_f32(const mg_average_pool_2d_f32_params *p, const mg_f32 *const *rows, uint32_t y, mg_f32 *out);

#endif /* MCUGEN_AVERAGE_POOL_2D_F32_H */
