/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of two computed matrices of int8 values, one for each batch, for cores with Helium: two rows of a times four
 * columns of b.
 *
 *   sum = sum over k of (a[n, i, k] - a_zero_point) * (b[n, k, j] - b_zero_point)
 *   y[n, i, j] = clamp(requantize(sum, mult, shift) + out_zero_point)
 *
 * first         per batch, the index of the first element of a, then of b; batches may share matrices
 * a_row         elements from a row of a to the next one; a row is `depth` adjacent elements
 * b_row, b_col  elements from a row, or a column, of b to the next one; b_row is at most 9362
 * cols          at least 4
 * mult, shift   as those of dense_s8__mve.h, for the same MG_FINISH
 * scratch       int8 [2][16 * steps]: two rows of a, where `steps` is depth / 16, rounded up
 *               a stream of `panel` columns, a multiple of 4 or all: as that of dense_s8__mve.h, with the steps in
 *               order; the biases hold the zero point of a
 * sums          cannot leave 32 bits: proved when the code is generated
 * Equals BatchMatmul.reference_q.
 */
#ifndef MCUGEN_MATMUL_S8__MVE_H
#define MCUGEN_MATMUL_S8__MVE_H

#include "mcugen/little_endian.h"
#include "mcugen/mve.h"
#include "mcugen/variant.h"

typedef struct {
    const uint32_t *first;
    int32_t mult, shift;
    uint32_t batches, rows, depth, cols;
    uint32_t a_row;
    uint32_t b_row, b_col;
    uint32_t panel;
    int16_t a_zero_point, b_zero_point;
    int16_t out_zero_point, out_min, out_max;
} mg_matmul_s8__mve_params;

#define MG_DECLARE_matmul_s8__mve(f) \
    MG_LINKAGE void f(const mg_matmul_s8__mve_params *p, const int8_t *a, const int8_t *b, int8_t *out, int8_t *scratch)

#endif /* MCUGEN_MATMUL_S8__MVE_H */
