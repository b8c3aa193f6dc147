/* SPDX-License-Identifier: Apache-2.0
 *
 * Logarithms in fixed point: Q<k> has k integer bits. Equals TensorFlow Lite's log_x_for_x_greater_than_or_equal_to_1.
 */
#ifndef MCUGEN_LOGARITHM_H
#define MCUGEN_LOGARITHM_H

#include "mcugen/reciprocal.h"

/* log(r * 2^0.25) for r around 2^-0.25, Q0 to Q6: a quotient of polynomials in the difference of r and 2^-0.25. */
static inline int32_t mg_log_near(int32_t r)
{
    const int32_t middle = 1805811301; /* 2^-0.25 */
    const int32_t mean = (int32_t)(((uint32_t)r + (uint32_t)middle + 1u) >> 1);
    const int32_t q = 2 * (r - middle);
    const int32_t square = mg_high_mul(q, q);
    const int32_t top = mg_high_mul(q, r) + mg_high_mul(mg_high_mul(q, square), 117049297);
    const int32_t factor = 1057819769 + q + mg_high_mul(127690142, square);
    const int32_t bottom = mg_high_mul(mean, factor) + mg_high_mul(638450708, q);
    return mg_high_mul(mg_divide_by_pot(top, 6u), mg_one_over_one_plus(bottom));
}

/* log(x) for x >= 1, Q12 to Q5. */
static inline int32_t mg_log_q12(int32_t x)
{
    const int32_t root = 1518500250; /* 2^-0.5 */
    const int32_t quarter = 8388608; /* 0.25 in Q6 */
    const uint32_t zeros = mg_leading_zeros((uint32_t)x);
    const uint32_t room = mg_leading_zeros((uint32_t)mg_high_mul(x, root)) - 1u;
    const int32_t a = mg_shift_saturated(mg_high_mul(mg_shift_saturated(x, zeros - 1u), root), 1u);
    const int32_t b = mg_shift_saturated(x, room);
    const int32_t power_a = (12 - (int32_t)zeros) * 33554432 + quarter;
    const int32_t power_b = (12 - (int32_t)room) * 33554432 - quarter;
    const int32_t power = power_a > power_b ? power_a : power_b;
    return mg_shift_saturated(mg_high_mul(power, 1488522236) + mg_log_near(a < b ? a : b), 1u);
}

#endif /* MCUGEN_LOGARITHM_H */
