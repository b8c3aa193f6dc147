/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax of float data.
 *
 *   y[i] = exp(beta * (x[i] - max)) / sum over k of exp(beta * (x[k] - max))
 *
 * Equals Softmax.reference within rounding.
 */
#ifndef MCUGEN_SOFTMAX_F32_H
#define MCUGEN_SOFTMAX_F32_H

#include "mcugen/runtime.h"

typedef struct {
    float beta;
    uint32_t classes;
} mg_softmax_f32_params;

/* Computes n rows of `classes` elements; `out` may be equal to `in`. */
void mg_softmax_f32(const mg_softmax_f32_params *p, const mg_f32 *in, mg_f32 *out, uint32_t n);

#endif /* MCUGEN_SOFTMAX_F32_H */
