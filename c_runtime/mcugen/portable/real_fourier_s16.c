/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/real_fourier_s16.h"

#define MG_FT(name) mg_real_fourier_s16_##name
#define MG_FT_SYMBOL mg_real_fourier_s16
typedef int16_t MCUGEN_MAY_ALIAS mg_ft;

static inline mg_ft MG_FT(mul2)(mg_ft a, mg_ft b, mg_ft c, mg_ft d)
{
    return (mg_ft)((a * b + c * d + (1 << 14)) >> 15);
}

static inline mg_ft MG_FT(mul)(mg_ft a, mg_ft b)
{
    return (mg_ft)((a * b + (1 << 14)) >> 15);
}

static inline mg_ft MG_FT(add)(mg_ft a, mg_ft b)
{
    return (mg_ft)(a + b);
}

static inline mg_ft MG_FT(negate)(mg_ft a)
{
    return (mg_ft)-a;
}

static inline mg_ft MG_FT(scale)(mg_ft a, uint32_t radix)
{
    return (mg_ft)((a * (int32_t)(32767u / radix) + (1 << 14)) >> 15);
}

static inline mg_ft MG_FT(finish)(mg_ft a, uint32_t n)
{
    (void)n;
    return a;
}

static inline mg_ft MG_FT(half)(mg_ft a, mg_ft b)
{
    return (mg_ft)((a + b) >> 1);
}

static inline mg_ft MG_FT(half_less)(mg_ft a, mg_ft b)
{
    return (mg_ft)((a - b) >> 1);
}

#include "mcugen/real_fourier_template.h"
