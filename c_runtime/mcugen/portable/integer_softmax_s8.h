/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax of int8 data in integers, over the keys of each row.
 *
 *   sum = sum over the keys of exp[max - x[k]] / 2^(23 - f), where max is the largest x of a key
 *   r = floor(2^(30 + f) / sum), as gemmlowp's reciprocal has it
 *   y[i] = min(255, (exp[max - x[i]] * r + 2^44) >> 45) - 128 for a key, -128 for any other element
 *
 * exp    uint32 [256]: 2^(23 - f) times (2^f times the exponential of each difference from the maximum, to nearest)
 * f      15 to 23; classes * 2^f is at most 2^31
 * mask   __ends: per row, the number of keys, which are the first elements; __bits: per row, (classes + 31) / 32 words,
 *        the bits of the keys, the first element in the lowest bit; else not read
 * mask_rows  rows of the mask, which are used in turn
 * A row without keys becomes -128. No instruction depends on the data. Equals IntegerSoftmax.reference_q.
 */
#ifndef MCUGEN_INTEGER_SOFTMAX_S8_H
#define MCUGEN_INTEGER_SOFTMAX_S8_H

#include "mcugen/runtime.h"

typedef struct {
    const uint32_t *exp;
    const uint32_t *mask;
    uint32_t mask_rows, rows, classes, f;
} mg_integer_softmax_s8_params;

/* Computes n rows of `classes` elements, all of which are keys; `out` may be equal to `in`. */
void mg_integer_softmax_s8(const mg_integer_softmax_s8_params *p, const int8_t *in, int8_t *out, uint32_t n);

/* Compute whole tensors; `out` may be equal to `in`. */
void mg_integer_softmax_s8__ends(const mg_integer_softmax_s8_params *p, const int8_t *in, int8_t *out);
void mg_integer_softmax_s8__bits(const mg_integer_softmax_s8_params *p, const int8_t *in, int8_t *out);

#endif /* MCUGEN_INTEGER_SOFTMAX_S8_H */
