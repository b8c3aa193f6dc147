/* SPDX-License-Identifier: Apache-2.0
 *
 * The inner loop of mg_maximum_s8: n elements; a step of 0 repeats an operand's first element.
 */
#ifndef MCUGEN_MAXIMUM_S8_RUN_H
#define MCUGEN_MAXIMUM_S8_RUN_H

#include "mcugen/maximum_s8.h"

static inline void mg_maximum_s8_run(const mg_maximum_s8_params *p, const int8_t *a, uint32_t a_step, const int8_t *b,
                                     uint32_t b_step, int8_t *out, uint32_t n)
{
    (void)p;
    for (uint32_t i = 0u; i < n; i += 1u) {
        const int8_t x = a[i * a_step];
        const int8_t y = b[i * b_step];
        out[i] = x > y ? x : y;
    }
}

#endif /* MCUGEN_MAXIMUM_S8_RUN_H */
