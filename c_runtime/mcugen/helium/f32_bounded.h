/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCUGEN_F32_BOUNDED_H
#define MCUGEN_F32_BOUNDED_H

#include "mcugen/runtime.h"

/* x clamped to two bounds; all three are compared by their bits as integers. */
static inline float mg_f32_bounded(int32_t low, int32_t high, float x)
{
    int32_t bits;
    float y;
    (void)memcpy(&bits, &x, sizeof bits);
    bits = mg_clamp(bits, low, high);
    (void)memcpy(&y, &bits, sizeof y);
    return y;
}

#endif /* MCUGEN_F32_BOUNDED_H */
