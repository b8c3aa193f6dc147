/* SPDX-License-Identifier: Apache-2.0
 *
 * Quotient of two stored integers of different scales.
 *
 *   a', b' = a - a_zero_point, b - b_zero_point; both are negated if b' is negative
 *   ratio  = high_mul(a' << its redundant sign bits, 1 / b' as mg_one_over_one_plus computes it)
 *   y      = clamp(divide(high_mul(ratio, mult), n) + out_zero_point), n: sum of the shifts of a' and b', minus `shift`
 *
 * divide: by 2^n to nearest, halves away from zero. For n above 31, the reference runtime shifts by more bits than an
 * integer has, which C does not define; mg_quotient_beyond gives the result of 64-bit processors. A quotient by 0 is 0.
 */
#ifndef MCUGEN_QUOTIENT_H
#define MCUGEN_QUOTIENT_H

#include "mcugen/reciprocal.h"

typedef struct {
    int32_t mult;
    int16_t a_zero_point, b_zero_point, out_zero_point;
    int16_t out_min, out_max;
    int8_t shift;
} mg_scaled_quotient;

/* x shifted right by `right`, 32 bits or more, as on 64-bit processors: the shift counts modulo 32, and the rounding
 * adds 1 if x is not negative. */
static inline int32_t mg_quotient_beyond(int32_t x, uint32_t right)
{
    return (x >> (right & 31u)) + (x >= 0 ? 1 : 0);
}

/* The quotient before the output's zero point is added. */
static inline int32_t mg_scaled_quotient_steps(const mg_scaled_quotient *p, int32_t a, int32_t b)
{
    const uint32_t size = (uint32_t)(b < 0 ? -b : b);
    const int32_t top = b < 0 ? -a : a;
    const uint32_t room = mg_leading_zeros(size | (uint32_t)(size == 0u));
    const uint32_t spare = mg_leading_zeros(((uint32_t)(top < 0 ? ~top : top) << 1) | 1u);
    const int32_t inverse = mg_one_over_one_plus((int32_t)((size << room) & 0x7fffffffu));
    const int32_t ratio = mg_high_mul((int32_t)((uint32_t)top << spare), inverse);
    const uint32_t right = (uint32_t)((int32_t)(31u - room + spare) - p->shift);
    const int32_t y = mg_high_mul(ratio, p->mult);
    return size == 0u ? 0 : right > 31u ? mg_quotient_beyond(y, right) : mg_divide_by_pot(y, right);
}

static inline int32_t mg_scaled_quotient_of(const mg_scaled_quotient *p, int32_t a, int32_t b)
{
    const int32_t steps = mg_scaled_quotient_steps(p, a - p->a_zero_point, b - p->b_zero_point);
    return mg_clamp(steps + p->out_zero_point, p->out_min, p->out_max);
}

#endif /* MCUGEN_QUOTIENT_H */
