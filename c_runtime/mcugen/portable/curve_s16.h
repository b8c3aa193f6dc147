/* SPDX-License-Identifier: Apache-2.0
 *
 * A function of int16 data by linear interpolation in a table of 513 entries, 128 values apart.
 *
 * Differences of entries and the sums with them wrap in 16 bits, as in the reference runtime's LUTLookup.
 */
#ifndef MCUGEN_CURVE_S16_H
#define MCUGEN_CURVE_S16_H

#include "mcugen/runtime.h"

typedef struct {
    const int16_t *table;
} mg_curve_s16_params;

/* Computes n elements; `out` may be equal to `in`. */
void mg_curve_s16(const mg_curve_s16_params *p, const mg_s16 *in, mg_s16 *out, uint32_t n);

#endif /* MCUGEN_CURVE_S16_H */
