/* SPDX-License-Identifier: Apache-2.0
 *
 * The inner loop of mg_mul_s16: n elements; a step of 0 repeats an operand's first element.
 */
#ifndef MCUGEN_MUL_S16_RUN_H
#define MCUGEN_MUL_S16_RUN_H

#include "mcugen/mul_s16.h"

static inline void mg_mul_s16_run(const mg_mul_s16_params *p, const mg_s16 *a, uint32_t a_step, const mg_s16 *b,
                                  uint32_t b_step, mg_s16 *out, uint32_t n)
{
    const mg_product product = p->product; /* a copy, which no store to out can change */
    for (uint32_t i = 0u; i < n; i += 1u) {
        out[i] = (int16_t)mg_product_of(&product, a[i * a_step], b[i * b_step]);
    }
}

#endif /* MCUGEN_MUL_S16_RUN_H */
