/* SPDX-License-Identifier: Apache-2.0
 *
 * The inner loop of mg_mul_s8: n elements; a step of 0 repeats an operand's first element.
 */
#ifndef MCUGEN_MUL_S8_RUN_H
#define MCUGEN_MUL_S8_RUN_H

#include "mcugen/mul_s8.h"

static inline void mg_mul_s8_run(const mg_mul_s8_params *p, const int8_t *a, uint32_t a_step, const int8_t *b,
                                 uint32_t b_step, int8_t *out, uint32_t n)
{
    const mg_product product = p->product; /* a copy, which no store to out can change */
    for (uint32_t i = 0u; i < n; i += 1u) {
        out[i] = (int8_t)mg_product_of(&product, a[i * a_step], b[i * b_step]);
    }
}

#endif /* MCUGEN_MUL_S8_RUN_H */
