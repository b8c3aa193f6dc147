/* SPDX-License-Identifier: Apache-2.0
 *
 * A function of int16 by a table of 513 entries, 128 values apart, with interpolation. Equals LUTLookup.
 */
#ifndef MCUGEN_INTERPOLATE_S16_H
#define MCUGEN_INTERPOLATE_S16_H

#include "mcugen/runtime.h"

/* Value of the table at x, interpolated. x: in the range of int16 */
static inline int32_t mg_interpolate_s16(const int16_t *table, int32_t x)
{
    const int16_t *const entry = table + 256 + (x >> 7);
    const int32_t slope = entry[1] - entry[0];
    return entry[0] + ((slope * (x & 0x7f) + 64) >> 7);
}

#endif /* MCUGEN_INTERPOLATE_S16_H */
