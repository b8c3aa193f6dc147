/* SPDX-License-Identifier: Apache-2.0
 *
 * Largest value of a sliding window over int16 images; taps outside the image are ignored.
 *
 *   y[c] = clamp(max over the taps inside of x[c])
 *
 * Equals the reference runtime's MaxPool2D for int16.
 */
/* Copies of this file, one a line, with these words replaced:
 * s16 -> s8, int16 -> int8, mg_s16 -> int8_t
 * s16 -> f32, int16 -> float, int32_t -> float, the reference runtime's MaxPool2D -> MaxPool2D.reference
 */
#ifndef MCUGEN_MAX_POOL_2D_S16_H
#define MCUGEN_MAX_POOL_2D_S16_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t kernel_h, kernel_w;
    uint32_t stride_h, stride_w;
    uint32_t pad_h, pad_w;
    uint32_t in_h, in_w;
    uint32_t out_w, channels;
    int32_t out_min, out_max;
} mg_max_pool_2d_s16_params;

/* Computes output row y. rows: kernel_h input rows; rows outside the image are not read. out: out_w * channels. */
void mg_max_pool_2d_s16(const mg_max_pool_2d_s16_params *p, const mg_s16 *const *rows, uint32_t y, mg_s16 *out);

#endif /* MCUGEN_MAX_POOL_2D_S16_H */
