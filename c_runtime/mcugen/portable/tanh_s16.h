/* SPDX-License-Identifier: Apache-2.0
 *
 * Hyperbolic tangent of int16 data, in Q0.15.
 *
 *   x = (in * mult + half) >> shift, in steps of 1 / (3 * 4096);  y = tanh by interpolation
 *
 * table  sigmoid(i / 24) with 16 bits of fraction, 256 entries, 256 steps apart
 * Equals the reference runtime's Tanh for int16.
 */
/* Copies of this file, one a line, with these words replaced:
 * tanh -> logistic, Hyperbolic tangent -> Logistic function, y = tanh -> y = sigmoid, 256 steps -> 512 steps
 */
#ifndef MCUGEN_TANH_S16_H
#define MCUGEN_TANH_S16_H

#include "mcugen/runtime.h"

typedef struct {
    const uint16_t *table;
    int32_t mult;
    uint32_t shift;
} mg_tanh_s16_params;

/* Computes n elements; `out` may be equal to `in`. */
void mg_tanh_s16(const mg_tanh_s16_params *p, const mg_s16 *in, mg_s16 *out, uint32_t n);

#endif /* MCUGEN_TANH_S16_H */
