/* SPDX-License-Identifier: Apache-2.0
 *
 * Mean of a sliding window over int16 images; taps outside the image are not counted.
 *
 *   y[c] = clamp(round(sum over the n taps inside the image of (x[c] + offset) / n) - offset), halves away from zero
 *
 * offset  0; 128 for data that was uint8 before its top bit was flipped, which rounds halves up
 * recip_mult, recip_shift  constants of the division by n (mg_divide): entry (rows - min_rows) * recip_pitch + (columns
 *                          - min_columns), for windows with rows * columns taps inside
 * sums    fit in 31 bits: proved when the code is generated
 * Equals the reference runtime's AveragePool2D for int16.
 */
#ifndef MCUGEN_AVERAGE_POOL_2D_S16_H
#define MCUGEN_AVERAGE_POOL_2D_S16_H

#include "mcugen/runtime.h"

typedef struct {
    const uint32_t *recip_mult;
    const uint8_t *recip_shift;
    uint32_t kernel_h, kernel_w;
    uint32_t stride_h, stride_w;
    uint32_t pad_h, pad_w;
    uint32_t in_h, in_w;
    uint32_t out_w, channels;
    uint32_t min_rows, min_columns, recip_pitch;
    int32_t offset, out_min, out_max;
} mg_average_pool_2d_s16_params;

/* Computes output row y. rows: kernel_h input rows; rows outside the image are not read. out: out_w * channels. */
void mg_average_pool_2d_s16(const mg_average_pool_2d_s16_params *p, const mg_s16 *const *rows, uint32_t y, mg_s16 *out);

#endif /* MCUGEN_AVERAGE_POOL_2D_S16_H */
