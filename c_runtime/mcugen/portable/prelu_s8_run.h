/* SPDX-License-Identifier: Apache-2.0
 *
 * The inner loop of mg_prelu_s8: n elements; a step of 0 repeats an operand's first element.
 */
#ifndef MCUGEN_PRELU_S8_RUN_H
#define MCUGEN_PRELU_S8_RUN_H

#include "mcugen/prelu_s8.h"

static inline void mg_prelu_s8_run(const mg_prelu_s8_params *p, const int8_t *a, uint32_t a_step, const int8_t *b,
                                   uint32_t b_step, int8_t *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        const int32_t x = a[i * a_step] - p->a_zero_point;
        const int32_t alpha = b[i * b_step] - p->b_zero_point;
        const int32_t y = x >= 0 ? mg_requantize(x, p->mult, p->shift)
                                 : mg_requantize(x * alpha, p->alpha_mult, p->alpha_shift);
        out[i] = (int8_t)mg_clamp(y + p->out_zero_point, INT8_MIN, INT8_MAX);
    }
}

#endif /* MCUGEN_PRELU_S8_RUN_H */
