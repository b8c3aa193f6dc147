/* SPDX-License-Identifier: Apache-2.0
 *
 * Mean of a sliding window over int8 images; taps outside the image are not counted.
 *
 *   y[c] = clamp(round(sum over the taps inside of (x[c] + offset) / their number) - offset), halves away from zero
 *
 * offset  0; 128 for data that was uint8 before its top bit was flipped, which rounds halves up
 * recip_mult, recip_shift  division by the number of taps (mg_divide): entry
 *         (rows - min_rows) * recip_pitch + (columns - min_columns)
 * sums    cannot leave 31 bits: proved when the code is generated
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

/* Output row y. rows: kernel_h input rows; those outside the image are not read. out: out_w * channels. */
void mg_average_pool_2d_s8(const mg_average_pool_2d_s8_params *p, const int8_t *const *rows, uint32_t y, int8_t *out);

/* Variant for a single window that is the whole image, row by row. acc: one 32 bit sum per channel. in: n rows. */
void mg_average_pool_2d_s8__global_begin(const mg_average_pool_2d_s8_params *p, void *acc);
void mg_average_pool_2d_s8__global_rows(const mg_average_pool_2d_s8_params *p, const int8_t *in, uint32_t y, uint32_t n,
                                        void *acc);
void mg_average_pool_2d_s8__global_end(const mg_average_pool_2d_s8_params *p, const void *acc, int8_t *out);

/* __global for cores with Helium. acc: one 32 bit sum per channel. */
void mg_average_pool_2d_s8__mve_global_begin(const mg_average_pool_2d_s8_params *p, void *acc);
void mg_average_pool_2d_s8__mve_global_rows(const mg_average_pool_2d_s8_params *p, const int8_t *in, uint32_t y,
                                            uint32_t n, void *acc);
void mg_average_pool_2d_s8__mve_global_end(const mg_average_pool_2d_s8_params *p, const void *acc, int8_t *out);

#endif /* MCUGEN_AVERAGE_POOL_2D_S8_H */
