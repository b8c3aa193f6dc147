/* SPDX-License-Identifier: Apache-2.0
 *
 * The inner loop of mg_add_s8: n elements; a step of 0 repeats an operand's first element.
 */
#ifndef MCUGEN_ADD_S8_RUN_H
#define MCUGEN_ADD_S8_RUN_H

#include "mcugen/add_s8.h"

static inline void mg_add_s8_run(const mg_add_s8_params *p, const int8_t *a, uint32_t a_step, const int8_t *b,
                                 uint32_t b_step, int8_t *out, uint32_t n)
{
    const mg_sum sum = p->sum; /* a copy, which no store to out can change */
    const int8_t *const wide = sum.narrow_first != 0u ? b : a;
    const int8_t *const narrow = sum.narrow_first != 0u ? a : b;
    const uint32_t wide_step = sum.narrow_first != 0u ? b_step : a_step;
    const uint32_t narrow_step = sum.narrow_first != 0u ? a_step : b_step;
    for (uint32_t i = 0u; i < n; i += 1u) {
        out[i] = (int8_t)mg_sum_of(&sum, wide[i * wide_step], narrow[i * narrow_step]);
    }
}

#endif /* MCUGEN_ADD_S8_RUN_H */
