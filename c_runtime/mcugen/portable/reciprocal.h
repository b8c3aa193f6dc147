/* SPDX-License-Identifier: Apache-2.0
 *
 * Reciprocals in fixed point: Q<k> has k integer bits. Equals gemmlowp's one_over_one_plus_x_for_x_in_0_1.
 */
#ifndef MCUGEN_RECIPROCAL_H
#define MCUGEN_RECIPROCAL_H

#include "mcugen/runtime.h"

/* Zero bits above the highest set bit of x, which is not 0. */
static inline uint32_t mg_leading_zeros(uint32_t x)
{
    uint32_t rest = x;
    uint32_t zeros = 0u;
    for (uint32_t k = 0u; k < 5u; k += 1u) {
        const uint32_t width = 16u >> k;
        const uint32_t empty = (rest >> (32u - width)) == 0u ? width : 0u;
        rest <<= empty;
        zeros += empty;
    }
    return zeros;
}

/* x * 2^n, saturated. */
static inline int32_t mg_shift_saturated(int32_t x, uint32_t n)
{
    const int32_t most = INT32_MAX >> n;
    return x > most ? INT32_MAX : (x < -most - 1 ? INT32_MIN : (int32_t)((uint32_t)x << n));
}

/* 1 / (1 + a) for 0 <= a <= 1, Q0 to Q0: three Newton-Raphson steps from 48/17 - 32/17 * (1 + a) / 2. */
static inline int32_t mg_one_over_one_plus(int32_t a)
{
    const int32_t middle = (int32_t)(((uint32_t)a >> 1) + 0x40000000u); /* (1 + a) / 2 to nearest */
    int32_t x = 1515870810 + mg_high_mul(middle, -1010580540);
    for (uint32_t k = 0u; k < 3u; k += 1u) {
        const int32_t error = 0x20000000 - mg_high_mul(middle, x);
        x += mg_shift_saturated(mg_high_mul(x, error), 2u);
    }
    return mg_shift_saturated(x, 1u);
}

#endif /* MCUGEN_RECIPROCAL_H */
