/* SPDX-License-Identifier: Apache-2.0
 *
 * Logarithm of the softmax of int8 data, in steps of 1/16; 127 stands for 0.
 *
 *   y[i] = x[i] - max - log(sum over k of exp(x[k] - max))
 *
 * exp      table in Q12: entry d is exp(x[i] - max) if max - x[i] = d; beyond its `exp_length` entries, exponentials
 *          are 0
 * scaled   table in Q5: the differences x[i] - max
 * mult, shift  from Q5 to steps of x
 * classes  at most 4095, so that a sum of exponentials stays in 32 bits
 * Equals the reference runtime's LogSoftmax (reference_integer_ops::LogSoftmax).
 */
#ifndef MCUGEN_LOG_SOFTMAX_S8_H
#define MCUGEN_LOG_SOFTMAX_S8_H

#include "mcugen/runtime.h"

typedef struct {
    const int32_t *exp, *scaled;
    int32_t mult, shift;
    uint16_t exp_length;
    uint16_t classes;
} mg_log_softmax_s8_params;

/* Computes n rows of `classes` elements; `out` may be equal to `in`. */
void mg_log_softmax_s8(const mg_log_softmax_s8_params *p, const int8_t *in, int8_t *out, uint32_t n);

#endif /* MCUGEN_LOG_SOFTMAX_S8_H */
