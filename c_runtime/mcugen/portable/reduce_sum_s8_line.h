/* SPDX-License-Identifier: Apache-2.0
 *
 * Sum or mean over axes of int8 data, rounded once.
 *
 *   y = line[0](sum of x), see line.h; its constants include zero points, scales and the number of elements
 *
 * sums         cannot leave 32 bits: proved when the code is generated
 */
#ifndef MCUGEN_REDUCE_SUM_S8_LINE_H
#define MCUGEN_REDUCE_SUM_S8_LINE_H

#include "mcugen/line.h"

typedef struct {
    const uint32_t *kept, *kept_stride;       /* [3], slowest first, in elements */
    const uint32_t *reduced, *reduced_stride; /* [3] */
    uint32_t channels, row_pixels; /* of the __global functions only: channels per pixel, pixels per row */
    mg_line line;
} mg_reduce_sum_s8_line_params;

/* Scales a sum to the result. */
static inline int8_t mg_reduce_sum_s8_line_store(const mg_reduce_sum_s8_line_params *p, int32_t sum)
{
    return (int8_t)mg_line_at(&p->line, 0u, sum);
}

/* Computes whole tensors. The loops over the input have three `kept` and three `reduced` dimensions. */
void mg_reduce_sum_s8_line(const mg_reduce_sum_s8_line_params *p, const int8_t *in, int8_t *out);

/* Sums over all pixels of an image, row by row. acc: a 32-bit sum per channel. in: n rows. */
void mg_reduce_sum_s8_line__global_begin(const mg_reduce_sum_s8_line_params *p, void *acc);
void mg_reduce_sum_s8_line__global_rows(const mg_reduce_sum_s8_line_params *p, const int8_t *in, uint32_t y, uint32_t n,
                                   void *acc);
void mg_reduce_sum_s8_line__global_end(const mg_reduce_sum_s8_line_params *p, const void *acc, int8_t *out);

#endif /* MCUGEN_REDUCE_SUM_S8_LINE_H */
