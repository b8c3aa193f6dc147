/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of weights of 4 bits with a factor for each block, and their products with a vector of int8.
 */
#ifndef MCUGEN_BLOCK_ROWS_H
#define MCUGEN_BLOCK_ROWS_H

#include "mcugen/line.h"

/* weights  rows of row_len bytes; eight weights, plus 8 each, lie in four bytes: 0 and 1, 4 and 5, 2 and 3, 6 and 7, the
 *          first in the lower half; a row is filled up to whole groups of eight
 * factors  1 to 255, for each block of a row
 * taps     weights of a row;   block: weights of a block, a multiple of eight; the last block of a row may be shorter */
#define MG_BLOCK_FIELDS             \
    const uint8_t *weights, *factors; \
    const int32_t *bias;            \
    mg_line line;                   \
    uint32_t taps, block, row_len;

typedef struct {
    const uint8_t *weights, *factors;
    uint32_t taps, block;
} mg_block_row;

/* w[k] * x[k] for two adjacent weights in a byte */
static inline int32_t mg_block_pair(uint32_t both, const int8_t *x)
{
    return ((int32_t)(both & 15u) - 8) * x[0] + ((int32_t)(both >> 4) - 8) * x[1];
}

#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)
/* sum + the products of the low and of the high halves of bytes 0 and 2 of w with the even and odd bytes of x */
static inline int32_t mg_block_pairs(int32_t sum, uint32_t low, uint32_t high, uint32_t x)
{
    uint32_t a, b, c, d;
    __asm__("sxtb16 %0, %1" : "=r"(a) : "r"(low));
    __asm__("sxtb16 %0, %1" : "=r"(b) : "r"(x));
    __asm__("sxtb16 %0, %1" : "=r"(c) : "r"(high));
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(d) : "r"(x));
    __asm__("smlad %0, %1, %2, %0" : "+r"(sum) : "r"(a), "r"(b));
    __asm__("smlad %0, %1, %2, %0" : "+r"(sum) : "r"(c), "r"(d));
    return sum;
}

/* sum + the products of eight weights */
static inline int32_t mg_block_eight(int32_t sum, const uint8_t *w, const int8_t *x)
{
    uint32_t word, first, second, low, high;
    (void)memcpy(&word, w, sizeof word);
    (void)memcpy(&first, x, sizeof first);
    (void)memcpy(&second, x + 4, sizeof second);
    __asm__("ssub8 %0, %1, %2" : "=r"(low) : "r"(word & 0x0F0F0F0Fu), "r"(0x08080808u));
    __asm__("ssub8 %0, %1, %2" : "=r"(high) : "r"((word >> 4) & 0x0F0F0F0Fu), "r"(0x08080808u));
    sum = mg_block_pairs(sum, low, high, first);
    return mg_block_pairs(sum, low >> 8, high >> 8, second);
}
#else
static inline int32_t mg_block_eight(int32_t sum, const uint8_t *w, const int8_t *x)
{
    sum += mg_block_pair(w[0], x) + mg_block_pair(w[2], x + 2);
    return sum + mg_block_pair(w[1], x + 4) + mg_block_pair(w[3], x + 6);
}
#endif

/* sum over blocks of factor * (sum of w * x within the block) */
static inline int32_t mg_block_row_sum(const mg_block_row row, const int8_t *x)
{
    const uint8_t *w = row.weights, *factor = row.factors;
    int32_t total = 0;
    for (uint32_t first = 0u; first < row.taps; first += row.block) {
        const uint32_t rest = row.taps - first, count = rest < row.block ? rest : row.block, eights = count / 8u;
        const uint32_t left = count % 8u;
        int32_t sum = 0;
        for (uint32_t k = 0u; k < eights; k += 1u) {
            sum = mg_block_eight(sum, w, x);
            w += 4;
            x += 8;
        }
        for (uint32_t k = 0u; k < left; k += 1u) {
            const uint32_t pair = k / 2u, both = w[pair / 2u + 2u * (pair & 1u)];
            sum += ((int32_t)((both >> (4u * (k & 1u))) & 15u) - 8) * x[k];
        }
        total += *factor * sum;
        factor += 1;
    }
    return total;
}

#endif /* MCUGEN_BLOCK_ROWS_H */
