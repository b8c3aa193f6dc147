/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/real_fourier_s16.h"

#define MG_FT(name) mg_real_fourier_s16_##name
#define MG_FT_SYMBOL mg_real_fourier_s16
typedef int16_t MCUGEN_MAY_ALIAS MG_FT(element);

static inline MG_FT(element) MG_FT(mul2)(MG_FT(element) a, MG_FT(element) b, MG_FT(element) c, MG_FT(element) d)
{
    return (MG_FT(element))((a * b + c * d + (1 << 14)) >> 15);
}

static inline MG_FT(element) MG_FT(mul)(MG_FT(element) a, MG_FT(element) b)
{
    return (MG_FT(element))((a * b + (1 << 14)) >> 15);
}

static inline MG_FT(element) MG_FT(add)(MG_FT(element) a, MG_FT(element) b)
{
    return (MG_FT(element))(a + b);
}

static inline MG_FT(element) MG_FT(negate)(MG_FT(element) a)
{
    return (MG_FT(element))-a;
}

static inline MG_FT(element) MG_FT(scale)(MG_FT(element) a, uint32_t radix)
{
    return (MG_FT(element))((a * (int32_t)(32767u / radix) + (1 << 14)) >> 15);
}

static inline MG_FT(element) MG_FT(finish)(MG_FT(element) a, uint32_t n)
{
    (void)n;
    return a;
}

static inline MG_FT(element) MG_FT(half)(MG_FT(element) a, MG_FT(element) b)
{
    return (MG_FT(element))((a + b) >> 1);
}

static inline MG_FT(element) MG_FT(half_less)(MG_FT(element) a, MG_FT(element) b)
{
    return (MG_FT(element))((a - b) >> 1);
}

#include "mcugen/real_fourier_template.h"
