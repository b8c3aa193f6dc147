/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax of int16 data.
 *
 *   y[i] = exp(x[i] - max) / sum over k of exp(x[k] - max), in Q0.15
 *
 * exp, inverse  interpolated tables of exp on [-10, 0] and 1 / (1 + x) on [0, 1]
 * mult, shift   scale differences so that [-65535, 0] means [-10, 0]
 * Equals the reference runtime's Softmax (reference_ops::SoftmaxInt16).
 */
#ifndef MCUGEN_SOFTMAX_S16_H
#define MCUGEN_SOFTMAX_S16_H

#include "mcugen/runtime.h"

typedef struct {
    const int16_t *exp, *inverse;
    int32_t mult;
    int32_t shift;
    uint32_t classes;
} mg_softmax_s16_params;

/* Computes n rows of `classes` elements; `out` may be equal to `in`. */
void mg_softmax_s16(const mg_softmax_s16_params *p, const mg_s16 *in, mg_s16 *out, uint32_t n);

#endif /* MCUGEN_SOFTMAX_S16_H */
