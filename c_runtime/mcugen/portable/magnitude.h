/* SPDX-License-Identifier: Apache-2.0
 *
 * Magnitudes of stored int16, rescaled if the output has another scale.
 */
#ifndef MCUGEN_MAGNITUDE_H
#define MCUGEN_MAGNITUDE_H

#include "mcugen/runtime.h"

typedef struct {
    int32_t mult, shift;
    uint8_t scales;
} mg_magnitude;

static inline int32_t mg_magnitude_of(const mg_magnitude *p, int32_t a)
{
    const int32_t size = a < 0 ? -a : a;
    return mg_clamp(p->scales != 0u ? mg_requantize(size, p->mult, p->shift) : size, INT16_MIN, INT16_MAX);
}

#endif /* MCUGEN_MAGNITUDE_H */
