/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of weights of 4 bits with a factor for each block, and their products with a vector of int8.
 */
#ifndef MCUGEN_BLOCK_ROWS_H
#define MCUGEN_BLOCK_ROWS_H

#include "mcugen/line.h"

/* weights  rows of row_len bytes; weight k of a row is a half of byte k / 2, the lower half first, plus 8
 * factors  1 to 255, for each block of a row
 * taps     weights of a row;   block: weights of a block, an even number; the last block of a row may be shorter */
#define MG_BLOCK_FIELDS             \
    const uint8_t *weights, *factors; \
    const int32_t *bias;            \
    mg_line line;                   \
    uint32_t taps, block, row_len;

typedef struct {
    const uint8_t *weights, *factors;
    uint32_t taps, block;
} mg_block_row;

/* sum over blocks of factor * (sum of w * x within the block) */
static inline int32_t mg_block_row_sum(mg_block_row row, const int8_t *x)
{
    const uint8_t *w = row.weights, *factor = row.factors;
    int32_t total = 0;
    for (uint32_t first = 0u; first < row.taps; first += row.block) {
        const uint32_t rest = row.taps - first, count = rest < row.block ? rest : row.block, pairs = count / 2u;
        int32_t sum = 0;
        for (uint32_t k = 0u; k < pairs; k += 1u) {
            const int32_t both = w[k];
            sum += ((both & 15) - 8) * x[0] + ((both >> 4) - 8) * x[1];
            x += 2;
        }
        if ((count & 1u) != 0u) {
            sum += ((w[pairs] & 15) - 8) * x[0];
        }
        w += pairs;
        total += *factor * sum;
        factor += 1;
    }
    return total;
}

#endif /* MCUGEN_BLOCK_ROWS_H */
