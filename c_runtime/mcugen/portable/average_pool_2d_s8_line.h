/* SPDX-License-Identifier: Apache-2.0
 *
 * Mean of a sliding window over int8 images, rounded once; taps outside the image are not counted.
 *
 *   y[c] = line(sum over the n taps inside the image of x[c])
 *
 * line    see line.h; the constants include zero points, scales and n. Entry (rows - min_rows) * pitch + (columns -
 *         min_columns) is for windows with rows * columns taps inside
 * sums    fit in 31 bits: proved when the code is generated
 */
#ifndef MCUGEN_AVERAGE_POOL_2D_S8_LINE_H
#define MCUGEN_AVERAGE_POOL_2D_S8_LINE_H

#include "mcugen/line.h"

typedef struct {
    mg_line line;
    uint32_t kernel_h, kernel_w;
    uint32_t stride_h, stride_w;
    uint32_t pad_h, pad_w;
    uint32_t in_h, in_w;
    uint32_t out_w, channels;
    uint32_t min_rows, min_columns, pitch;
} mg_average_pool_2d_s8_line_params;

/* Computes output row y. rows: kernel_h input rows; rows outside the image are not read. out: out_w * channels. */
void mg_average_pool_2d_s8_line(const mg_average_pool_2d_s8_line_params *p, const int8_t *const *rows, uint32_t y, int8_t *out);

/* Kernel for a single window that covers the whole image; it adds the image's rows to `acc` as they arrive. acc: one
 * 32-bit sum per channel. in: n image rows. */
void mg_average_pool_2d_s8_line__global_begin(const mg_average_pool_2d_s8_line_params *p, void *acc);
void mg_average_pool_2d_s8_line__global_rows(const mg_average_pool_2d_s8_line_params *p, const int8_t *in, uint32_t y,
                                             uint32_t n, void *acc);
void mg_average_pool_2d_s8_line__global_end(const mg_average_pool_2d_s8_line_params *p, const void *acc, int8_t *out);

#endif /* MCUGEN_AVERAGE_POOL_2D_S8_LINE_H */
