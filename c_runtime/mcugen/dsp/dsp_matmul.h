/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of two computed matrices of int8 values, one for each batch, on cores with SMLAD. A few columns of b at a
 * time become a stream of constants as that of a 1x1 convolution, with which all rows of a are multiplied.
 *
 *   y[n, i, j] = clamp(requantize(sum over k of (a[n, i, k] - a_zero_point) * (b[n, k, j] - b_zero_point)) + zero point)
 *
 * first         per batch, the index of the first element of a, then of b; batches may share matrices
 * a_row         elements from a row of a to the next one; a row is `depth` adjacent elements, at least 4
 * b_row, b_col  elements from a row, or a column, of b to the next one
 * scales        the scales of both columns of a pair: see dsp_block_template.h
 * scratch       int16 [words][3][2]: three rows of a, widened. Each group of four elements is in the order 0, 2, 1, 3.
 *               If depth is not a multiple of 4, group depth / 4 holds the last four elements, with zero weights for
 *               those that are also in the group before. Further elements have zero weights
 *               int32 [panel / 2, rounded up][8 + 2 * words]: the stream of `panel` columns
 * panel         columns of a stream, an even number or all
 * The build has proved that no sum reaches 2^30. Equals BatchMatmul.reference_q.
 */
#ifndef MCUGEN_DSP_MATMUL_H
#define MCUGEN_DSP_MATMUL_H

#include "mcugen/little_endian.h"
#include "mcugen/variant.h"

typedef struct {
    const uint32_t *first;
    const int32_t *scales;
    uint32_t batches, rows, depth, cols;
    uint32_t a_row;
    uint32_t b_row, b_col;
    uint32_t words, panel;
    int16_t a_zero_point, b_zero_point;
} mg_dsp_matmul_params;

#define MG_DECLARE_dsp_matmul(f) \
    MG_LINKAGE void f(const mg_dsp_matmul_params *p, const int8_t *a, const int8_t *b, int8_t *out, mg_s16 *scratch)

#endif /* MCUGEN_DSP_MATMUL_H */
