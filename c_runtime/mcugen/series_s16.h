/* SPDX-License-Identifier: Apache-2.0
 *
 * Logistic and tanh of int16, by a series for the exponential and Newton's division. Equals gemmlowp's functions on
 * FixedPoint<int16_t, bits>: x has `bits` integer bits, the results have none.
 */
#ifndef MCUGEN_SERIES_S16_H
#define MCUGEN_SERIES_S16_H

#include "mcugen/runtime.h"

/* a * b / 2^15, to the nearest */
static inline int16_t mg_series_product(int16_t a, int16_t b)
{
    return (int16_t)mg_clamp((a * b + (1 << 14)) >> 15, INT16_MIN, INT16_MAX);
}

/* x * 2^bits, saturated */
static inline int16_t mg_series_left(int16_t x, uint32_t bits)
{
    const int32_t most = ((int32_t)1 << (15u - bits)) - 1;
    if (x < -most) {
        return INT16_MIN;
    }
    if (x > most) {
        return INT16_MAX;
    }
    return (int16_t)(x * ((int32_t)1 << bits));
}

/* exp(a) for a from -1/4 to 0; a and the result have no integer bits */
static inline int16_t mg_series_exp_near_zero(int16_t a)
{
    const int16_t x = (int16_t)(a + (1 << 12));
    const int16_t x2 = mg_series_product(x, x);
    const int16_t x3 = mg_series_product(x2, x);
    const int16_t x4 = mg_series_product(x2, x2);
    const int16_t third = mg_series_product((int16_t)(mg_divide_by_pot(x4, 2u) + x3), 10923);
    const int16_t tail = (int16_t)mg_divide_by_pot((int16_t)(third + x2), 1u);
    const int16_t first = 28918;
    return (int16_t)mg_clamp(first + mg_series_product(first, (int16_t)(x + tail)), INT16_MIN, INT16_MAX);
}

/* exp(a) for a <= 0 with `bits` integer bits; the result has none */
static inline int16_t mg_series_exp(int16_t a, uint32_t bits)
{
    static const int16_t steps[7] = {25520, 19875, 12055, 4435, 600, 11, 0};
    const uint32_t fraction = 15u - bits, count = bits < 5u ? bits + 2u : 7u;
    const int16_t quarter = (int16_t)(1 << (fraction - 2u));
    const int16_t nearby = (int16_t)((a & (quarter - 1)) - quarter);
    const uint32_t rest = (uint32_t)(uint16_t)(nearby - a);
    int16_t result = mg_series_exp_near_zero(mg_series_left(nearby, bits));
    for (uint32_t e = 0u; e < count; e += 1u) {
        if ((rest >> (fraction + e - 2u) & 1u) != 0u) {
            result = mg_series_product(result, steps[e]);
        }
    }
    if (bits > 5u && a < -(1 << (20u - bits))) {
        result = 0;
    }
    return a == 0 ? INT16_MAX : result;
}

/* 2 / (1 + a) for a from 0 to 1, which has no integer bits; the result has two */
static inline int16_t mg_series_inverse(int16_t a)
{
    const int16_t half = (int16_t)((a + INT16_MAX + 1) >> 1);
    int16_t x = (int16_t)(23130 + mg_series_product(half, -15420));
    for (uint32_t i = 0u; i < 3u; i += 1u) {
        const int16_t error = (int16_t)((1 << 13) - mg_series_product(half, x));
        x = (int16_t)(x + mg_series_left(mg_series_product(x, error), 2u));
    }
    return x;
}

static inline int32_t mg_logistic_series_s16(int16_t x, uint32_t bits)
{
    const int16_t above = mg_series_left(mg_series_inverse(mg_series_exp((int16_t)(x > 0 ? -x : x), bits)), 1u);
    if (x == 0) {
        return 1 << 14;
    }
    return x > 0 ? above : INT16_MAX - above;
}

static inline int32_t mg_tanh_series_s16(int16_t x, uint32_t bits)
{
    const int16_t e = mg_series_exp((int16_t)(x > 0 ? -x : x), bits + 1u);
    const int16_t size = mg_series_left((int16_t)(mg_series_inverse(e) - (1 << 13)), 2u);
    if (x == 0) {
        return 0;
    }
    return x > 0 ? size : -size;
}

#endif /* MCUGEN_SERIES_S16_H */
