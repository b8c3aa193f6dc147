/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of two computed float matrices, one for each batch: four rows times four columns at a time, as a 1x1
 * convolution with the columns of b as its weights.
 *
 *   y[n, i, j] = sum over k of a[n, i, k] * b[n, k, j]
 *
 * first         per batch, the index of the first element of a, then of b; batches may share matrices
 * a             rows of `depth` adjacent elements, one after the other
 * b_row, b_col  elements from a row, or a column, of b to the next one
 * scratch       weights of mg_conv2d_f32__quads_pointwise (quads_f32.h) with biases of 0, then `cols` floats
 * Sums run in the order of k. Follows BatchMatmul.reference.
 */
#ifndef MCUGEN_BATCH_MATMUL_F32__QUADS_H
#define MCUGEN_BATCH_MATMUL_F32__QUADS_H

#include "mcugen/interface.h"
#include "mcugen/runtime.h"

typedef struct {
    const uint32_t *first;
    uint32_t batches, rows, depth, cols;
    uint32_t b_row, b_col;
} mg_batch_matmul_f32__quads_params;

/* Computes whole tensors. */
void mg_batch_matmul_f32__quads(const mg_batch_matmul_f32__quads_params *p, const mg_f32 *a, const mg_f32 *b, mg_f32 *out,
                                mg_f32 *scratch);

#endif /* MCUGEN_BATCH_MATMUL_F32__QUADS_H */
