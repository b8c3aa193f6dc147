/* SPDX-License-Identifier: Apache-2.0
 *
 * A sum or difference of two stored int8 values, if one linear form gives the same bits as all its roundings.
 *
 *   y = clamp((form.a * a + form.b * b + form.addend) / 2^21), rounded down
 *
 * Equals mg_sum_of for every pair of values: all were compared when the code was generated. Nothing leaves 32 bits.
 */
#ifndef MCUGEN_LINEAR_FORM_H
#define MCUGEN_LINEAR_FORM_H

#include "mcugen/runtime.h"

typedef struct {
    int32_t a, b, addend;
    int16_t out_min, out_max;
} mg_linear_form;

static inline int32_t mg_linear_of(const mg_linear_form *k, int32_t a, int32_t b)
{
    return k->addend + a * k->a + b * k->b;
}

static inline int32_t mg_linear_clamped(const mg_linear_form *k, int32_t a, int32_t b)
{
    return mg_clamp(mg_linear_of(k, a, b) >> 21, k->out_min, k->out_max);
}

/* mg_linear_form that clamps to the range of int8 only. */
static inline int32_t mg_linear_saturated(const mg_linear_form *k, int32_t a, int32_t b)
{
#if defined(__ARM_FEATURE_SAT) && defined(__GNUC__)
    int32_t y;
    __asm__("ssat %0, #8, %1, asr #21" : "=r"(y) : "r"(mg_linear_of(k, a, b)));
    return y;
#else
    return mg_clamp(mg_linear_of(k, a, b) >> 21, -128, 127);
#endif
}

#endif /* MCUGEN_LINEAR_FORM_H */
