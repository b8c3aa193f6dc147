/* SPDX-License-Identifier: Apache-2.0
 *
 * The inner loop of mg_add_s16: n elements; a step of 0 repeats an operand's first element.
 */
#ifndef MCUGEN_ADD_S16_RUN_H
#define MCUGEN_ADD_S16_RUN_H

#include "mcugen/add_s16.h"

static inline void mg_add_s16_run(const mg_add_s16_params *p, const mg_s16 *a, uint32_t a_step, const mg_s16 *b,
                                  uint32_t b_step, mg_s16 *out, uint32_t n)
{
    const mg_sum sum = p->sum; /* a copy, which no store to out can change */
    const mg_s16 *const wide = sum.narrow_first != 0u ? b : a;
    const mg_s16 *const narrow = sum.narrow_first != 0u ? a : b;
    const uint32_t wide_step = sum.narrow_first != 0u ? b_step : a_step;
    const uint32_t narrow_step = sum.narrow_first != 0u ? a_step : b_step;
    for (uint32_t i = 0u; i < n; i += 1u) {
        out[i] = (int16_t)mg_sum_of(&sum, wide[i * wide_step], narrow[i * narrow_step]);
    }
}

#endif /* MCUGEN_ADD_S16_RUN_H */
