/* SPDX-License-Identifier: Apache-2.0
 *
 * Mean of a sliding window over int8 images; taps outside the image do not count.
 *
 *   y[c] = clamp(round(sum over the n taps inside the image of (x[c] + offset) / n) - offset), halves away from zero
 *
 * offset    0; or 128 for data that was uint8 before its top bit was flipped: halves are then rounded up
 * recip_mult, recip_shift  constants of the division by n (mg_divide): entry
 *           (rows - min_rows) * recip_pitch + (columns - min_columns), for windows with rows * columns taps inside
 * sums      fit in 31 bits: proved when the code is generated
 * Equals the reference runtime's AveragePool2D for int8.
 */
#ifndef MCUGEN_AVERAGE_POOL_2D_S8_H
#define MCUGEN_AVERAGE_POOL_2D_S8_H

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
} mg_average_pool_2d_s8_params;

/* Computes output row y. rows: kernel_h input rows; rows outside the image are not read. out: out_w * channels. */
void mg_average_pool_2d_s8(const mg_average_pool_2d_s8_params *p, const int8_t *const *rows, uint32_t y, int8_t *out);

/* Kernel for a single window that covers the whole image; it adds the image's rows to `acc` as they arrive. acc: one
 * 32-bit sum per channel. in: n image rows, of which the first is row y. */
void mg_average_pool_2d_s8__global_begin(const mg_average_pool_2d_s8_params *p, void *acc);
void mg_average_pool_2d_s8__global_rows(const mg_average_pool_2d_s8_params *p, const int8_t *in, uint32_t y, uint32_t n,
                                        void *acc);
void mg_average_pool_2d_s8__global_end(const mg_average_pool_2d_s8_params *p, const void *acc, int8_t *out);

/* The _global variant for cores with Helium. acc: a 32-bit sum per channel. */
void mg_average_pool_2d_s8__mve_global_begin(const mg_average_pool_2d_s8_params *p, void *acc);
void mg_average_pool_2d_s8__mve_global_rows(const mg_average_pool_2d_s8_params *p, const int8_t *in, uint32_t y,
                                            uint32_t n, void *acc);
void mg_average_pool_2d_s8__mve_global_end(const mg_average_pool_2d_s8_params *p, const void *acc, int8_t *out);

#endif /* MCUGEN_AVERAGE_POOL_2D_S8_H */
