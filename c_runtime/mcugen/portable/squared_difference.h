/* SPDX-License-Identifier: Apache-2.0
 *
 * Square of the difference of two stored integers of different scales.
 *
 *   fine = divide(high_mul((a - a_zero_point) << left_shift, a_mult), a_shift), and likewise for b
 *   y    = clamp(requantize((fine a - fine b)^2, out_mult, out_shift) + out_zero_point)
 *
 * divide: by 2^shift to nearest, halves away from zero. The multipliers are at most 1/2, and left_shift is 7 for int8 and
 * 0 for int16, so that the square stays in 32 bits.
 */
#ifndef MCUGEN_SQUARED_DIFFERENCE_H
#define MCUGEN_SQUARED_DIFFERENCE_H

#include "mcugen/sum.h"

typedef struct {
    int32_t a_mult, b_mult, out_mult;
    int16_t a_zero_point, b_zero_point, out_zero_point;
    int16_t out_min, out_max;
    uint8_t left_shift, a_shift, b_shift;
    int8_t out_shift;
} mg_squared_difference;

static inline int32_t mg_squared_difference_of(const mg_squared_difference *p, int32_t a, int32_t b)
{
    const int32_t wide_a = (a - p->a_zero_point) * (int32_t)((uint32_t)1 << p->left_shift);
    const int32_t wide_b = (b - p->b_zero_point) * (int32_t)((uint32_t)1 << p->left_shift);
    const int32_t fine_a = mg_sum_divide(mg_high_mul(wide_a, p->a_mult), p->a_shift);
    const int32_t fine_b = mg_sum_divide(mg_high_mul(wide_b, p->b_mult), p->b_shift);
    const int32_t apart = fine_a - fine_b;
    return mg_clamp(mg_requantize(apart * apart, p->out_mult, p->out_shift) + p->out_zero_point, p->out_min, p->out_max);
}

#endif /* MCUGEN_SQUARED_DIFFERENCE_H */
