/* SPDX-License-Identifier: Apache-2.0
 *
 * The operations on 16 floats of simd_scalar.h with AVX-512.
 */
#ifndef MCUGEN_SIMD_FMA512_H
#define MCUGEN_SIMD_FMA512_H

#include "mcugen/simd_floats.h"

#define MG_TARGET_fma512 __attribute__((target("avx512f")))
#define MG_FMA512 static inline __attribute__((target("avx512f"), always_inline)) /* in functions of this target only */

typedef float mg_fma512_sums __attribute__((vector_size(64)));
typedef mg_fma512_sums mg_fma512_one;

MG_FMA512 mg_fma512_sums mg_fma512_load(const mg_f32 *from)
{
    mg_fma512_sums s;
    (void)memcpy(&s, from, sizeof(s));
    return s;
}

MG_FMA512 mg_fma512_one mg_fma512_share(const mg_f32 *x)
{
    mg_fma512_one all;
    __asm__("vbroadcastss %1, %0" : "=v"(all) : "m"(*x));
    return all;
}

MG_FMA512 mg_fma512_sums mg_fma512_add(mg_fma512_sums s, mg_fma512_one x, mg_fma512_sums w)
{
    __asm__("vfmadd231ps %2, %1, %0" : "+v"(s) : "v"(x), "v"(w));
    return s;
}

#define mg_fma512_add_each mg_fma512_add

MG_FMA512 mg_fma512_sums mg_fma512_larger(mg_fma512_sums x, mg_fma512_sums y)
{
    __asm__("vmaxps %0, %1, %0" : "+v"(y) : "v"(x));
    return y;
}

MG_FMA512 void mg_fma512_store(mg_f32 *to, mg_fma512_sums s, uint32_t n, float low, float high)
{
    const mg_fma512_one least = mg_fma512_share(&low), most = mg_fma512_share(&high);
    __asm__("vmaxps %0, %1, %0\n\tvminps %0, %2, %0" : "+v"(s) : "v"(least), "v"(most));
    if (n == MG_SIMD_LANES) {
        (void)memcpy(to, &s, sizeof(s));
    } else {
        const mg_fma512_sums some = s;
        (void)memcpy(to, &some, n * sizeof(*to));
    }
}

#endif /* MCUGEN_SIMD_FMA512_H */
