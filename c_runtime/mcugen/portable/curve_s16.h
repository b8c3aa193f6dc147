/* SPDX-License-Identifier: Apache-2.0
 *
 * A function of int16 data by a table of 513 entries, 128 values apart, joined by straight lines.
 *
 * Differences of entries and the sums with them wrap in 16 bits, as in the reference runtime's LUTLookup.
 */
#ifndef MCUGEN_CURVE_S16_H
#define MCUGEN_CURVE_S16_H

#include "mcugen/runtime.h"

typedef struct {
    const int16_t *table;
} mg_curve_s16_params;

/* n elements; out may be in. */
void mg_curve_s16(const mg_curve_s16_params *p, const mg_s16 *in, mg_s16 *out, uint32_t n);

#endif /* MCUGEN_CURVE_S16_H */
