/* SPDX-License-Identifier: Apache-2.0
 *
 * The inner loop of mg_div_f32: n elements; a step of 0 repeats an operand's first element.
 */
#ifndef MCUGEN_DIV_F32_RUN_H
#define MCUGEN_DIV_F32_RUN_H

#include "mcugen/div_f32.h"

static inline void mg_div_f32_run(const mg_div_f32_params *p, const mg_f32 *a, uint32_t a_step, const mg_f32 *b,
                                  uint32_t b_step, mg_f32 *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        const float x = a[i * a_step];
        const float y = b[i * b_step];
        const float z = x / y;
        const float floored = z < p->out_min ? p->out_min : z;
        out[i] = floored > p->out_max ? p->out_max : floored;
    }
}

#endif /* MCUGEN_DIV_F32_RUN_H */
