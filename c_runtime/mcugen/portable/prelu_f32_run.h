/* SPDX-License-Identifier: Apache-2.0
 *
 * The inner loop of mg_prelu_f32: n elements; a step of 0 repeats an operand's first element.
 */
#ifndef MCUGEN_PRELU_F32_RUN_H
#define MCUGEN_PRELU_F32_RUN_H

#include "mcugen/prelu_f32.h"

static inline void mg_prelu_f32_run(const mg_prelu_f32_params *p, const mg_f32 *a, uint32_t a_step, const mg_f32 *b,
                                    uint32_t b_step, mg_f32 *out, uint32_t n)
{
    (void)p;
    for (uint32_t i = 0u; i < n; i += 1u) {
        const float x = a[i * a_step];
        const float y = b[i * b_step];
        out[i] = x >= 0.0f ? x : x * y;
    }
}

#endif /* MCUGEN_PRELU_F32_RUN_H */
