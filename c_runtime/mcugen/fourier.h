/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by Fourier transforms of s16 on all cores: constants of butterflies, and the shift of block floating point.
 *
 * MG_TURN_2_5_RE: cosine of -2/5 of a turn; MG_TURN_2_5_IM: its sine; likewise for 1/3 and 1/5. They have 15 fractional
 * bits, rounded as kissfft rounds them.
 */
#ifndef MCUGEN_FOURIER_H
#define MCUGEN_FOURIER_H

#include "mcugen/bits.h"

#define MG_TURN_1_3_IM (-28377)
#define MG_TURN_1_5_RE 10126
#define MG_TURN_1_5_IM (-31163)
#define MG_TURN_2_5_RE (-26509)
#define MG_TURN_2_5_IM (-19260)

/* Left shift that gives `most`, a magnitude of at most 32768, 15 significant bits; 0 if it is 0 or has 15 or more. */
static inline uint32_t mg_headroom(int32_t most)
{
    return most == 0 || most >= 16384 ? 0u : mg_zeros_above((uint32_t)most) - 17u;
}

/* Greatest magnitude of n numbers, leaving out any -32768; most: the greatest including these. If all other numbers can
 * be shifted left, each -32768 becomes 0. */
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
