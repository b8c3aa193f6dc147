/* SPDX-License-Identifier: Apache-2.0
 *
 * Quotient of two stored integers of different scales.
 *
 *   a', b' = a - a_zero_point, b - b_zero_point, both with the other sign where b' is negative
 *   ratio  = high_mul(a' << its spare bits, 1 / b' as mg_one_over_one_plus finds it)
 *   y      = clamp(divide(high_mul(ratio, mult), all bits shifted - shift) + out_zero_point)
 *
 * divide: by a power of two to nearest, halves away from zero. Quotients so small that this power would be above 2^31
 * are 0, and so is any quotient by 0: the reference runtime shifts by more bits than an integer has, which C leaves open.
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

/* The quotient in steps of the result. */
static inline int32_t mg_scaled_quotient_steps(const mg_scaled_quotient *p, int32_t a, int32_t b)
{
    const uint32_t size = (uint32_t)(b < 0 ? -b : b);
    const int32_t top = b < 0 ? -a : a;
    const uint32_t room = mg_leading_zeros(size | (uint32_t)(size == 0u));
    const uint32_t spare = mg_leading_zeros(((uint32_t)(top < 0 ? ~top : top) << 1) | 1u);
    const int32_t inverse = mg_one_over_one_plus((int32_t)((size << room) & 0x7fffffffu));
    const int32_t ratio = mg_high_mul((int32_t)((uint32_t)top << spare), inverse);
    const uint32_t right = (uint32_t)((int32_t)(31u - room + spare) - p->shift);
    return size == 0u || right > 31u ? 0 : mg_divide_by_pot(mg_high_mul(ratio, p->mult), right);
}

static inline int32_t mg_scaled_quotient_of(const mg_scaled_quotient *p, int32_t a, int32_t b)
{
    const int32_t steps = mg_scaled_quotient_steps(p, a - p->a_zero_point, b - p->b_zero_point);
    return mg_clamp(steps + p->out_zero_point, p->out_min, p->out_max);
}

#endif /* MCUGEN_QUOTIENT_H */
