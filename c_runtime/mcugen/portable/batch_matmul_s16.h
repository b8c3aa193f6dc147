/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of two computed matrices of int16 values, one for each batch.
 *
 *   sum = sum over k of (a[n, i, k] - a_zero_point) * (b[n, k, j] - b_zero_point)
 *   y[n, i, j] = clamp(requantize_wide(sum, mult, shift) + out_zero_point); mult has 16 bits
 *
 * first         per batch, the index of the first element of a, then of b; batches may share matrices
 * *_row, *_col  elements from a row, or a column, of a matrix to the next one
 * sums          have 64 bits
 * Equals BatchMatmul.reference_q.
 */
#ifndef MCUGEN_BATCH_MATMUL_S16_H
#define MCUGEN_BATCH_MATMUL_S16_H

#include "mcugen/filter.h"

typedef struct {
    const uint32_t *first;
    int32_t mult;
    int32_t shift, out_zero_point, out_min, out_max;
    uint32_t batches, rows, depth, cols;
    uint32_t a_row, a_col;
    uint32_t b_row, b_col;
    int16_t a_zero_point, b_zero_point;
} mg_batch_matmul_s16_params;

/* Computes whole tensors. */
void mg_batch_matmul_s16(const mg_batch_matmul_s16_params *p, const mg_s16 *a, const mg_s16 *b, mg_s16 *out);

#endif /* MCUGEN_BATCH_MATMUL_S16_H */
