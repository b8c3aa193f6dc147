/* SPDX-License-Identifier: Apache-2.0
 *
 * The inner loop of mg_maximum_s32: n elements; a step of 0 repeats an operand's first element.
 */
#ifndef MCUGEN_MAXIMUM_S32_RUN_H
#define MCUGEN_MAXIMUM_S32_RUN_H

#include "mcugen/maximum_s32.h"

static inline void mg_maximum_s32_run(const mg_maximum_s32_params *p, const mg_s32 *a, uint32_t a_step, const mg_s32 *b,
                                      uint32_t b_step, mg_s32 *out, uint32_t n)
{
    (void)p;
    for (uint32_t i = 0u; i < n; i += 1u) {
        const int32_t x = a[i * a_step];
        const int32_t y = b[i * b_step];
        out[i] = x > y ? x : y;
    }
}

#endif /* MCUGEN_MAXIMUM_S32_RUN_H */
