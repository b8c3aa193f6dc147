/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by Fourier transforms of s16 on all cores: constants of butterflies, and the shift of block floating point.
 *
 * MG_TURN_2_5_RE and its like are the cosine (RE) or sine (IM) of -2/5 of a turn, with 15 fractional bits, rounded as
 * kissfft rounds them.
 */
#ifndef MCUGEN_FOURIER_H
#define MCUGEN_FOURIER_H

#include "mcugen/bits.h"

#define MG_TURN_1_3_IM (-28377)
#define MG_TURN_1_5_RE 10126
#define MG_TURN_1_5_IM (-31163)
#define MG_TURN_2_5_RE (-26509)
#define MG_TURN_2_5_IM (-19260)

/* The shift to the left that makes `most`, a magnitude of at most 32768, a number of 15 bits; 0 if there is none. */
static inline uint32_t mg_headroom(int32_t most)
{
    return most == 0 || most >= 16384 ? 0u : mg_zeros_above((uint32_t)most) - 17u;
}

/* The greatest magnitude of n numbers without those of -32768, which become 0 if the others can be shifted.
 * most: the greatest magnitude of all. */
static inline int32_t mg_but_least(int32_t most, mg_s16 *z, uint32_t n)
{
    int32_t found = most;
    if (most == 32768) {
        found = 0;
        for (uint32_t i = 0u; i < n; i += 1u) {
            const int32_t size = z[i] < 0 ? -z[i] : z[i];
            found = size > found && size < 32768 ? size : found;
        }
        if (found < 16384) {
            for (uint32_t i = 0u; i < n; i += 1u) {
                z[i] = z[i] == INT16_MIN ? 0 : z[i];
            }
        }
    }
    return found;
}

#endif /* MCUGEN_FOURIER_H */
