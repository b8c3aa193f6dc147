/* SPDX-License-Identifier: Apache-2.0
 *
 * Sum or difference of two stored integers of different scales.
 *
 *   fine = wide_factor * (wide - wide_zero_point)
 *          + narrow_factor * divide(high_mul((narrow - narrow_zero_point) << left_shift, narrow_mult), narrow_shift)
 *   y    = clamp(divide(high_mul(fine, out_mult), out_shift) + out_zero_point)
 *
 * divide: by 2^shift to nearest, halves away from zero. wide is the operand with the larger scale; its multiplier is
 * exactly 1/2. No intermediate value exceeds 32 bits: left_shift is 20 for int8, 15 for int16, and 1 if the scales are
 * powers of two.
 * Equals AddElementwise with double rounding.
 */
#ifndef MCUGEN_SUM_H
#define MCUGEN_SUM_H

#include "mcugen/runtime.h"

typedef struct {
    int32_t wide_factor;
    int32_t narrow_mult;
    int32_t out_mult;
    int16_t wide_zero_point, narrow_zero_point, out_zero_point;
    int16_t out_min, out_max;
    uint8_t left_shift, narrow_shift, out_shift;
    int8_t narrow_factor;
} mg_sum;

/* x / 2^n to nearest, halves away from zero, if |x| + 2^(n - 1) fits 32 bits. It has no branch, so that the compiler
 * can compute the constants of n outside the loop. */
static inline int32_t mg_sum_divide(int32_t x, uint32_t n)
{
    const int32_t half = (int32_t)(((uint32_t)1 << n) >> 1);
    const int32_t away = n > 0u ? -1 : 0;
    return (x + half + (mg_sign(x) & away)) >> n;
}

static inline int32_t mg_sum_of(const mg_sum *p, int32_t wide, int32_t narrow)
{
    const int32_t shifted = (int32_t)((uint32_t)(narrow - p->narrow_zero_point) << p->left_shift);
    const int32_t scaled = mg_sum_divide(mg_high_mul(shifted, p->narrow_mult), p->narrow_shift);
    const int32_t fine = (wide - p->wide_zero_point) * p->wide_factor + p->narrow_factor * scaled;
    const int32_t y = mg_sum_divide(mg_high_mul(fine, p->out_mult), p->out_shift);
    return mg_clamp(y + p->out_zero_point, p->out_min, p->out_max);
}

#endif /* MCUGEN_SUM_H */
