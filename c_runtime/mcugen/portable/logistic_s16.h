/* SPDX-License-Identifier: Apache-2.0
 *
 * Logistic function of int16 data, in Q0.15.
 *
 *   x = (in * mult + half) >> shift, in steps of 1 / (3 * 4096);  y = sigmoid by interpolation
 *
 * table  sigmoid(i / 24) with 16 bits of fraction, 256 entries, 512 steps apart
 * Equals the reference runtime's Logistic for int16.
 */
#ifndef MCUGEN_LOGISTIC_S16_H
#define MCUGEN_LOGISTIC_S16_H

#include "mcugen/runtime.h"

typedef struct {
    const uint16_t *table;
    int32_t mult;
    uint32_t shift;
} mg_logistic_s16_params;

/* n elements; out may be in. */
void mg_logistic_s16(const mg_logistic_s16_params *p, const mg_s16 *in, mg_s16 *out, uint32_t n);

#endif /* MCUGEN_LOGISTIC_S16_H */
