/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of two computed matrices, one for each batch.
 *
 *   y[n, i, j] = sum over k of a[n, i, k] * b[n, k, j]
 *
 * first         per batch, the index of the first element of a, then of b; batches may share matrices
 * *_row, *_col  elements from a row, or a column, of a matrix to the next one
 * Equals BatchMatmul.reference within rounding; products are added in the order of k.
 */
#ifndef MCUGEN_BATCH_MATMUL_F32_H
#define MCUGEN_BATCH_MATMUL_F32_H

#include "mcugen/runtime.h"

typedef struct {
    const uint32_t *first;
    uint32_t batches, rows, depth, cols;
    uint32_t a_row, a_col;
    uint32_t b_row, b_col;
} mg_batch_matmul_f32_params;

/* Computes whole tensors. */
void mg_batch_matmul_f32(const mg_batch_matmul_f32_params *p, const mg_f32 *a, const mg_f32 *b, mg_f32 *out);

#endif /* MCUGEN_BATCH_MATMUL_F32_H */
