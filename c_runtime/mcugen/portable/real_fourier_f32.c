/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/real_fourier_f32.h"

#define MG_FT(name) mg_real_fourier_f32_##name
#define MG_FT_SYMBOL mg_real_fourier_f32
typedef float MCUGEN_MAY_ALIAS MG_FT(element);

static inline float MG_FT(mul2)(float a, float b, float c, float d)
{
    const float left = a * b, right = c * d;
    return left + right;
}

static inline float MG_FT(mul)(float a, float b)
{
    return a * b;
}

static inline float MG_FT(add)(float a, float b)
{
    return a + b;
}

static inline float MG_FT(negate)(float a)
{
    return -a;
}

static inline float MG_FT(scale)(float a, uint32_t radix)
{
    (void)radix;
    return a;
}

static inline float MG_FT(finish)(float a, uint32_t n)
{
    return a / (float)n;
}

static inline float MG_FT(half)(float a, float b)
{
    return (a + b) * 0.5f;
}

static inline float MG_FT(half_less)(float a, float b)
{
    return (a - b) * 0.5f;
}

#include "mcugen/real_fourier_template.h"
