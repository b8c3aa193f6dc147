/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/real_fourier_s32.h"

#define MG_FT(name) mg_real_fourier_s32_##name
#define MG_FT_SYMBOL mg_real_fourier_s32
typedef int32_t MCUGEN_MAY_ALIAS MG_FT(element);

/* (a * b + c * d) / 2^31, rounded. The sum may exceed 64 bits; it wraps. */
static inline MG_FT(element) MG_FT(mul2)(MG_FT(element) a, MG_FT(element) b, MG_FT(element) c, MG_FT(element) d)
{
    const uint64_t sum = (uint64_t)((int64_t)a * b) + (uint64_t)((int64_t)c * d) + ((uint64_t)1 << 30);
    return (MG_FT(element))((int64_t)sum >> 31);
}

static inline MG_FT(element) MG_FT(mul)(MG_FT(element) a, MG_FT(element) b)
{
    return (MG_FT(element))(((int64_t)a * b + ((int64_t)1 << 30)) >> 31);
}

static inline MG_FT(element) MG_FT(add)(MG_FT(element) a, MG_FT(element) b)
{
    return (MG_FT(element))((uint32_t)a + (uint32_t)b);
}

static inline MG_FT(element) MG_FT(negate)(MG_FT(element) a)
{
    return (MG_FT(element))(0u - (uint32_t)a);
}

static inline MG_FT(element) MG_FT(scale)(MG_FT(element) a, uint32_t radix)
{
    return MG_FT(mul)(a, (int32_t)(2147483647u / radix));
}

static inline MG_FT(element) MG_FT(finish)(MG_FT(element) a, uint32_t n)
{
    (void)n;
    return a;
}

static inline MG_FT(element) MG_FT(half)(MG_FT(element) a, MG_FT(element) b)
{
    return MG_FT(add)(a, b) >> 1;
}

static inline MG_FT(element) MG_FT(half_less)(MG_FT(element) a, MG_FT(element) b)
{
    return MG_FT(add)(a, MG_FT(negate)(b)) >> 1;
}

#include "mcugen/real_fourier_template.h"
