/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/real_fourier_s32.h"

#define MG_FT(name) mg_real_fourier_s32_##name
#define MG_FT_SYMBOL mg_real_fourier_s32
typedef int32_t MCUGEN_MAY_ALIAS mg_ft;

/* The sum of two products may need 64 bits and a carry: they wrap. */
static inline mg_ft MG_FT(mul2)(mg_ft a, mg_ft b, mg_ft c, mg_ft d)
{
    const uint64_t sum = (uint64_t)((int64_t)a * b) + (uint64_t)((int64_t)c * d) + ((uint64_t)1 << 30);
    return (mg_ft)((int64_t)sum >> 31);
}

static inline mg_ft MG_FT(mul)(mg_ft a, mg_ft b)
{
    return (mg_ft)(((int64_t)a * b + ((int64_t)1 << 30)) >> 31);
}

static inline mg_ft MG_FT(add)(mg_ft a, mg_ft b)
{
    return (mg_ft)((uint32_t)a + (uint32_t)b);
}

static inline mg_ft MG_FT(negate)(mg_ft a)
{
    return (mg_ft)(0u - (uint32_t)a);
}

static inline mg_ft MG_FT(scale)(mg_ft a, uint32_t radix)
{
    return MG_FT(mul)(a, (int32_t)(2147483647u / radix));
}

static inline mg_ft MG_FT(finish)(mg_ft a, uint32_t n)
{
    (void)n;
    return a;
}

static inline mg_ft MG_FT(half)(mg_ft a, mg_ft b)
{
    return MG_FT(add)(a, b) >> 1;
}

static inline mg_ft MG_FT(half_less)(mg_ft a, mg_ft b)
{
    return MG_FT(add)(a, MG_FT(negate)(b)) >> 1;
}

#include "mcugen/real_fourier_template.h"
