/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax of int8 data, to int16.
 *
 *   y[i] = exp(x[i] - max) / sum over k of exp(x[k] - max), with 16 fraction bits, minus 32768
 *
 * exp      31 fraction bits: entry d is exp(x[i] - max) if max - x[i] = d; beyond its `exp_length` entries,
 *          exponentials are 0
 * classes  at most 4095, so that a sum of exponentials, with 19 fraction bits, stays in 32 bits
 * Equals the reference runtime's Softmax (reference_ops::Softmax).
 */
#ifndef MCUGEN_SOFTMAX_S8_S16_H
#define MCUGEN_SOFTMAX_S8_S16_H

#include "mcugen/runtime.h"

typedef struct {
    const int32_t *exp;
    uint16_t exp_length;
    uint16_t classes;
} mg_softmax_s8_s16_params;

/* Computes n rows of `classes` elements. */
void mg_softmax_s8_s16(const mg_softmax_s8_s16_params *p, const int8_t *in, mg_s16 *out, uint32_t n);

#endif /* MCUGEN_SOFTMAX_S8_S16_H */
