/* SPDX-License-Identifier: Apache-2.0
 *
 * Sum or mean over axes of float data.
 *
 *   y = sum of x / divisor; the divisor is 1 for SUM
 * Equals Mean.reference and Sum.reference for float.
 */
#ifndef MCUGEN_REDUCE_SUM_F32_H
#define MCUGEN_REDUCE_SUM_F32_H

#include "mcugen/runtime.h"

typedef struct {
    const uint32_t *kept, *kept_stride;       /* [3], slowest first, in elements */
    const uint32_t *reduced, *reduced_stride; /* [3] */
    uint32_t channels, row_pixels; /* of the __global functions only: channels per pixel, pixels per row */
    float divisor;
} mg_reduce_sum_f32_params;

/* Divides a sum by the divisor: the number of elements for a mean, 1 for a sum. */
static inline mg_f32 mg_reduce_sum_f32_store(const mg_reduce_sum_f32_params *p, float sum)
{
    return sum / p->divisor;
}

/* Computes whole tensors. The loops over the input have three `kept` and three `reduced` dimensions. */
void mg_reduce_sum_f32(const mg_reduce_sum_f32_params *p, const mg_f32 *in, mg_f32 *out);

/* Sums over all pixels of an image, row by row. acc: a 32-bit sum per channel. in: n rows. */
void mg_reduce_sum_f32__global_begin(const mg_reduce_sum_f32_params *p, void *acc);
void mg_reduce_sum_f32__global_rows(const mg_reduce_sum_f32_params *p, const mg_f32 *in, uint32_t y, uint32_t n,
                                    void *acc);
void mg_reduce_sum_f32__global_end(const mg_reduce_sum_f32_params *p, const void *acc, mg_f32 *out);

#endif /* MCUGEN_REDUCE_SUM_F32_H */
