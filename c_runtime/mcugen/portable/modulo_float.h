/* SPDX-License-Identifier: Apache-2.0
 *
 * The remainder of a float division rounded down.
 */
#ifndef MCUGEN_MODULO_FLOAT_H
#define MCUGEN_MODULO_FLOAT_H

#include "mcugen/runtime.h"

#include <math.h>

/* a - b * floor(a / b), which has the sign of b. */
static inline float mg_modulo_float(float a, float b)
{
    const float rest = fmodf(a, b);
    const int moved = rest < 0.0f ? b > 0.0f : (rest > 0.0f && b < 0.0f);
    return moved != 0 ? rest + b : rest;
}

#endif /* MCUGEN_MODULO_FLOAT_H */
