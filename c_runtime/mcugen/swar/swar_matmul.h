/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of two computed matrices of int8 values, one for each batch, for cores without SIMD: two rows of a times two
 * columns of b.
 *
 *   y[n, i, j] = clamp(requantize(sum over k of (a[n, i, k] - a_zero_point) * (b[n, k, j] - b_zero_point)) + zero point)
 *
 * The sums are computed from unsigned bytes u = a + 128 and v = b + 128, with c = b_zero_point + 128 and d =
 * a_zero_point + 128:
 *
 *   sum of u[k] * v[k] - c * (sum of u) - d * (sum of v) + depth * c * d
 *
 * first         per batch, the index of the first element of a, then of b; batches may share matrices
 * *_row, *_col  elements from a row, or a column, of a matrix to the next one
 * mult, rounding, shift  y = floor((sum * mult / 2^24 + rounding) / 2^shift), from 0 to out_span; out_min is added to it
 * below         added if the sum is negative
 * scratch       int32 [cols, rounded up to even]: -d * (sum of v) + depth * c * d of each column;
 *               uint8 [pairs of columns][depth][2]: v; uint8 [depth][2]: u of two rows
 * sums          are below 2^23: proved when the code is generated
 * Equals BatchMatmul.reference_q.
 */
#ifndef MCUGEN_SWAR_MATMUL_H
#define MCUGEN_SWAR_MATMUL_H

#include "mcugen/interface.h"
#include "mcugen/runtime.h"

typedef struct {
    const uint32_t *first;
    uint32_t batches, rows, depth, cols;
    uint32_t a_row, a_col;
    uint32_t b_row, b_col;
    int32_t mult, rounding, below, out_span;
    uint32_t shift;
    int16_t a_zero_point, b_zero_point, out_min;
} mg_swar_matmul_params;

/* Computes whole tensors. */
void mg_batch_matmul_s8__swar(const mg_swar_matmul_params *p, const int8_t *a, const int8_t *b, int8_t *out, mg_s32 *scratch);

#endif /* MCUGEN_SWAR_MATMUL_H */
