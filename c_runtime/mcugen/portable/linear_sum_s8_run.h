/* SPDX-License-Identifier: Apache-2.0
 *
 * The inner loops of mg_linear_sum_s8: n elements; a step of 0 repeats an operand's first element.
 */
#ifndef MCUGEN_LINEAR_SUM_S8_RUN_H
#define MCUGEN_LINEAR_SUM_S8_RUN_H

#include "mcugen/linear_sum_s8.h"

/* A sum to int8, with no other clamp. */
#if defined(__ARM_FEATURE_SAT) && defined(__GNUC__)
static inline int8_t mg_linear_sum_s8_saturated(int32_t sum)
{
    int32_t y;
    __asm__("ssat %0, #8, %1, asr #21" : "=r"(y) : "r"(sum));
    return (int8_t)y;
}
#else
static inline int8_t mg_linear_sum_s8_saturated(int32_t sum)
{
    return (int8_t)mg_clamp(sum >> 21, -128, 127);
}
#endif

static inline int32_t mg_linear_sum_s8_of(const mg_linear_form *k, int32_t a, int32_t b)
{
    return k->addend + a * k->a + b * k->b;
}

static inline void mg_linear_sum_s8_pairs(const mg_linear_form *k, const int8_t *a, const int8_t *b, int8_t *out, uint32_t n)
{
    const int8_t *const end = a + (n & ~3u);
    for (const int8_t *x = a; x < end; x += 4) {
        out[0] = mg_linear_sum_s8_saturated(mg_linear_sum_s8_of(k, x[0], b[0]));
        out[1] = mg_linear_sum_s8_saturated(mg_linear_sum_s8_of(k, x[1], b[1]));
        out[2] = mg_linear_sum_s8_saturated(mg_linear_sum_s8_of(k, x[2], b[2]));
        out[3] = mg_linear_sum_s8_saturated(mg_linear_sum_s8_of(k, x[3], b[3]));
        b += 4;
        out += 4;
    }
    for (uint32_t i = 0u; i < (n & 3u); i += 1u) {
        out[i] = mg_linear_sum_s8_saturated(mg_linear_sum_s8_of(k, end[i], b[i]));
    }
}

static inline void mg_linear_sum_s8_run(const mg_linear_form *form, const int8_t *a, uint32_t a_step, const int8_t *b,
                                        uint32_t b_step, int8_t *out, uint32_t n)
{
    const mg_linear_form k = *form; /* a copy, which no store to out can change */
    if (a_step != 0u && b_step != 0u && k.out_min == -128 && k.out_max == 127) {
        mg_linear_sum_s8_pairs(&k, a, b, out, n);
    } else {
        for (uint32_t i = 0u; i < n; i += 1u) {
            const int32_t y = mg_linear_sum_s8_of(&k, a[i * a_step], b[i * b_step]) >> 21;
            out[i] = (int8_t)mg_clamp(y, k.out_min, k.out_max);
        }
    }
}

#endif /* MCUGEN_LINEAR_SUM_S8_RUN_H */
