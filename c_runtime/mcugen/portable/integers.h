/* SPDX-License-Identifier: Apache-2.0
 *
 * Integer functions that are defined for all operands: overflow wraps, and a division by zero gives 0.
 */
#ifndef MCUGEN_INTEGERS_H
#define MCUGEN_INTEGERS_H

#include "mcugen/runtime.h"

/* a / b, rounded towards zero. */
static inline int64_t mg_quotient(int64_t a, int64_t b)
{
    if (b == 0) {
        return 0;
    }
    return b == -1 ? (int64_t)(0u - (uint64_t)a) : a / b;
}

/* The remainder of the quotient rounded towards zero: it has the sign of a. */
static inline int64_t mg_remainder(int64_t a, int64_t b)
{
    return (b == 0 || b == -1) ? 0 : a % b;
}

/* The remainder of the quotient rounded down: it has the sign of b. */
static inline int64_t mg_modulo(int64_t a, int64_t b)
{
    const int64_t rest = mg_remainder(a, b);
    return (rest != 0 && ((rest < 0) != (b < 0))) ? rest + b : rest;
}

/* a / b, rounded down. */
static inline int64_t mg_floor_quotient(int64_t a, int64_t b)
{
    const int64_t rest = mg_remainder(a, b);
    return mg_quotient(a, b) - ((rest != 0 && ((rest < 0) != (b < 0))) ? 1 : 0);
}

/* The low 64 bits of a to the power of b; for negative b, 1 / a^-b rounded towards zero. */
static inline int64_t mg_power(int64_t a, int64_t b)
{
    const int64_t base = (b >= 0 || a == 1 || a == -1) ? a : 0;
    const uint64_t exponent = b < 0 ? 0u - (uint64_t)b : (uint64_t)b;
    uint64_t factor = (uint64_t)base;
    uint64_t result = 1u;
    for (uint32_t k = 0u; k < 64u; k += 1u) {
        result *= ((exponent >> k) & 1u) != 0u ? factor : 1u;
        factor *= factor;
    }
    return (int64_t)result;
}

/* a << b and a >> b in 64 bits; for b of 64 or more, all bits are shifted out. */
static inline int64_t mg_shift_left(int64_t a, int64_t b)
{
    return (b < 0 || b > 63) ? 0 : (int64_t)((uint64_t)a << (uint32_t)b);
}

static inline int64_t mg_shift_right(int64_t a, int64_t b)
{
    return a >> (uint32_t)((b < 0 || b > 63) ? 63 : b);
}

/* x rounded towards zero and saturated to int64. NaN becomes the least int64. */
static inline int64_t mg_whole(float x)
{
    if (x > -9223372036854775808.0f && x < 9223372036854775808.0f) {
        return (int64_t)x;
    }
    return x > 0.0f ? INT64_MAX : INT64_MIN;
}

/* The low 32 bits of x. */
static inline int32_t mg_low_bits(int64_t x)
{
    return (int32_t)(uint32_t)((uint64_t)x & 0xffffffffu);
}

#endif /* MCUGEN_INTEGERS_H */
