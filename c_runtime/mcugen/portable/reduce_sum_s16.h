/* SPDX-License-Identifier: Apache-2.0
 *
 * Sum or mean over axes of int16 data.
 *
 *   y = clamp(requantize(sum of x - in_zero_point_sum, mult, shift) + out_zero_point)
 *
 * mult, shift  scale_x / scale_y, for MEAN divided by the number of elements
 * sums         cannot leave 32 bits: proved when the code is generated
 * Equals the reference runtime's Mean and Sum for int16.
 */
/* Copies of this file, one a line, with these words replaced:
 * s16 -> s8, mg_s16 -> int8_t, int16 -> int8
 */
#ifndef MCUGEN_REDUCE_SUM_S16_H
#define MCUGEN_REDUCE_SUM_S16_H

#include "mcugen/runtime.h"

typedef struct {
    const uint32_t *kept, *kept_stride;       /* [3], slowest first, in elements */
    const uint32_t *reduced, *reduced_stride; /* [3] */
    uint32_t channels, row_pixels; /* of the __global functions only: channels per pixel, pixels per row */
    int32_t mult, shift;
    int32_t in_zero_point_sum, out_zero_point;
} mg_reduce_sum_s16_params;

/* Scales a sum to the result. */
static inline int16_t mg_reduce_sum_s16_store(const mg_reduce_sum_s16_params *p, int32_t sum)
{
    const int32_t y = mg_requantize(sum - p->in_zero_point_sum, p->mult, p->shift) + p->out_zero_point;
    return (int16_t)mg_clamp(y, INT16_MIN, INT16_MAX);
}

/* Computes whole tensors. The loops over the input have three `kept` and three `reduced` dimensions. */
void mg_reduce_sum_s16(const mg_reduce_sum_s16_params *p, const mg_s16 *in, mg_s16 *out);

/* Sums over all pixels of an image, row by row. acc: a 32-bit sum per channel. in: n rows. */
void mg_reduce_sum_s16__global_begin(const mg_reduce_sum_s16_params *p, void *acc);
void mg_reduce_sum_s16__global_rows(const mg_reduce_sum_s16_params *p, const mg_s16 *in, uint32_t y, uint32_t n,
                                    void *acc);
void mg_reduce_sum_s16__global_end(const mg_reduce_sum_s16_params *p, const void *acc, mg_s16 *out);

#endif /* MCUGEN_REDUCE_SUM_S16_H */
