/* SPDX-License-Identifier: Apache-2.0
 *
 * The operations on 16 floats of simd_scalar.h with AVX and FMA, in two vectors of eight; and sigmoid and tanh.
 */
#ifndef MCUGEN_SIMD_FMA_H
#define MCUGEN_SIMD_FMA_H

#include "mcugen/simd_floats.h"

#define MG_TARGET_fma __attribute__((target("avx2,fma")))
#define MG_FMA static inline __attribute__((target("avx2,fma"), always_inline)) /* in functions of this target only */

typedef float mg_f32x8 __attribute__((vector_size(32)));

typedef struct {
    mg_f32x8 a, b;
} mg_fma_sums;

typedef mg_f32x8 mg_fma_one;

MG_FMA mg_f32x8 mg_fma_eight(const mg_f32 *from)
{
    mg_f32x8 x;
    (void)memcpy(&x, from, sizeof(x));
    return x;
}

MG_FMA mg_fma_sums mg_fma_load(const mg_f32 *from)
{
    const mg_fma_sums s = {mg_fma_eight(from), mg_fma_eight(from + 8)};
    return s;
}

MG_FMA mg_fma_one mg_fma_share(const mg_f32 *x)
{
    mg_fma_one all;
    __asm__("vbroadcastss %1, %0" : "=x"(all) : "m"(*x));
    return all;
}

/* s + x * w, rounded once */
MG_FMA mg_f32x8 mg_fma_of(mg_f32x8 s, mg_f32x8 x, mg_f32x8 w)
{
    __asm__("vfmadd231ps %2, %1, %0" : "+x"(s) : "x"(x), "x"(w));
    return s;
}

MG_FMA mg_fma_sums mg_fma_add(mg_fma_sums s, mg_fma_one x, mg_fma_sums w)
{
    s.a = mg_fma_of(s.a, x, w.a);
    s.b = mg_fma_of(s.b, x, w.b);
    return s;
}

MG_FMA mg_fma_sums mg_fma_add_each(mg_fma_sums s, mg_fma_sums x, mg_fma_sums w)
{
    s.a = mg_fma_of(s.a, x.a, w.a);
    s.b = mg_fma_of(s.b, x.b, w.b);
    return s;
}

MG_FMA mg_fma_sums mg_fma_larger(mg_fma_sums x, mg_fma_sums y)
{
    __asm__("vmaxps %0, %1, %0" : "+x"(y.a) : "x"(x.a));
    __asm__("vmaxps %0, %1, %0" : "+x"(y.b) : "x"(x.b));
    return y;
}

/* x clamped. NaN stays: of two operands of which one is NaN, the instructions return the first that is written here. */
MG_FMA mg_f32x8 mg_fma_clamp(mg_f32x8 x, float low, float high)
{
    const mg_f32x8 least = {low, low, low, low, low, low, low, low};
    const mg_f32x8 most = {high, high, high, high, high, high, high, high};
    __asm__("vmaxps %0, %1, %0\n\tvminps %0, %2, %0" : "+x"(x) : "x"(least), "x"(most));
    return x;
}

MG_FMA void mg_fma_store(mg_f32 *to, mg_fma_sums s, uint32_t n, float low, float high)
{
    s.a = mg_fma_clamp(s.a, low, high);
    s.b = mg_fma_clamp(s.b, low, high);
    if (n == MG_SIMD_LANES) {
        (void)memcpy(to, &s.a, sizeof(s.a));
        (void)memcpy(to + 8, &s.b, sizeof(s.b));
    } else {
        const mg_fma_sums some = s;
        (void)memcpy(to, &some, n * sizeof(*to));
    }
}

/* exp(x) - 1 within 2 units of the last place, for |x| <= 87; NaN stays. x = n ln 2 + r, and exp(r) - 1 is the Taylor
 * polynomial of degree 7. */
MG_FMA mg_f32x8 mg_fma_exp_less_1(mg_f32x8 x)
{
    typedef int32_t words __attribute__((vector_size(32)));
    const mg_f32x8 one = {1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f};
    mg_f32x8 n, power, sum;
    words whole;
    __asm__("vroundps $0, %1, %0" : "=x"(n) : "x"(x * 1.44269504f));
    const mg_f32x8 near = mg_fma_of(x, n, one * -0.693145752f);
    const mg_f32x8 r = mg_fma_of(near, n, one * -1.42860677e-6f);
    sum = mg_fma_of(one * 1.38888889e-3f, r, one * 1.98412698e-4f);
    sum = mg_fma_of(one * 8.33333333e-3f, r, sum);
    sum = mg_fma_of(one * 4.16666667e-2f, r, sum);
    sum = mg_fma_of(one * 1.66666667e-1f, r, sum);
    sum = mg_fma_of(one * 0.5f, r, sum);
    sum = mg_fma_of(r, r * r, sum);
    __asm__("vcvtps2dq %1, %0" : "=x"(whole) : "x"(n));
    power = (mg_f32x8)((whole + 127) << 23);
    return mg_fma_of(power - one, power, sum);
}

/* 1 / (1 + exp(-x)) */
MG_FMA mg_f32x8 mg_fma_sigmoid(mg_f32x8 x)
{
    return 1.0f / (mg_fma_exp_less_1(mg_fma_clamp(-x, -87.0f, 87.0f)) + 2.0f);
}

/* (exp(2 x) - 1) / (exp(2 x) + 1) */
MG_FMA mg_f32x8 mg_fma_tanh(mg_f32x8 x)
{
    const mg_f32x8 power = mg_fma_exp_less_1(mg_fma_clamp(x + x, -40.0f, 40.0f));
    return power / (power + 2.0f);
}

#endif /* MCUGEN_SIMD_FMA_H */
