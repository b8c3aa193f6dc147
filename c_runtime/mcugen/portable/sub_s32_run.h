/* SPDX-License-Identifier: Apache-2.0
 *
 * The inner loop of mg_sub_s32: n elements; a step of 0 repeats an operand's first element.
 */
#ifndef MCUGEN_SUB_S32_RUN_H
#define MCUGEN_SUB_S32_RUN_H

#include "mcugen/sub_s32.h"

static inline void mg_sub_s32_run(const mg_sub_s32_params *p, const mg_s32 *a, uint32_t a_step, const mg_s32 *b,
                                  uint32_t b_step, mg_s32 *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        const int32_t x = a[i * a_step];
        const int32_t y = b[i * b_step];
        out[i] = mg_clamp((int32_t)((uint32_t)x - (uint32_t)y), p->out_min, p->out_max);
    }
}

#endif /* MCUGEN_SUB_S32_RUN_H */
