/* SPDX-License-Identifier: Apache-2.0
 *
 * The operations of simd_plain.h that products of bytes need, with AVX512-VNNI: a vector has 16 channels.
 */
#ifndef MCUGEN_SIMD_VNNI512_H
#define MCUGEN_SIMD_VNNI512_H

#include "mcugen/simd_avx2.h"

#define MG_TARGET_vnni512 __attribute__((target("avx512f")))
#define MG_VNNI512 static inline __attribute__((target("avx512f"), always_inline)) /* in functions of this target */

typedef int32_t mg_i32x16 __attribute__((vector_size(64)));
typedef uint32_t mg_u32x16 __attribute__((vector_size(64)));
typedef int64_t mg_i64x8 __attribute__((vector_size(64)));
typedef uint64_t mg_u64x8 __attribute__((vector_size(64)));

typedef mg_u32x16 mg_vnni512_sums;
typedef mg_i32x16 mg_vnni512_weights;
typedef mg_i32x16 mg_vnni512_taps;

/* x in all elements. */
MG_VNNI512 mg_i32x16 mg_vnni512_all(int32_t x)
{
    mg_i32x16 all;
    __asm__("vpbroadcastd %1, %0" : "=v"(all) : "r"(x));
    return all;
}

MG_VNNI512 mg_vnni512_sums mg_vnni512_zero(void)
{
    return (mg_vnni512_sums)mg_vnni512_all(0);
}

MG_VNNI512 mg_i32x16 mg_vnni512_load(const void *from)
{
    mg_i32x16 words;
    (void)memcpy(&words, from, sizeof(words));
    return words;
}

MG_VNNI512 mg_vnni512_weights mg_vnni512_load_s8(const int8_t *w)
{
    return mg_vnni512_load(w);
}

MG_VNNI512 mg_vnni512_taps mg_vnni512_taps_u8(const void *x)
{
    mg_vnni512_taps all;
    __asm__("vpbroadcastd %1, %0" : "=v"(all) : "m"(*(const mg_4_bytes *)x));
    return all;
}

MG_VNNI512 mg_vnni512_sums mg_vnni512_dot(mg_vnni512_sums s, mg_vnni512_taps x, mg_vnni512_weights w)
{
    __asm__("vpdpbusd %2, %1, %0" : "+v"(s) : "v"(x), "v"(w));
    return s;
}

MG_VNNI512 void mg_vnni512_store_dots(int32_t *to, mg_vnni512_sums s)
{
    (void)memcpy(to, &s, sizeof(s));
}

/* The products of the even elements of a and b, as int64. */
MG_VNNI512 mg_i64x8 mg_vnni512_wide_products(mg_i32x16 a, mg_i32x16 b)
{
    mg_i64x8 products;
    __asm__("vpmuldq %2, %1, %0" : "=v"(products) : "v"(a), "v"(b));
    return products;
}

/* The even elements of a and the odd elements of b. */
MG_VNNI512 mg_i32x16 mg_vnni512_even_odd(mg_u64x8 a, mg_u64x8 b)
{
    return (mg_i32x16)((a & 0xffffffffu) | (b & 0xffffffff00000000u));
}

MG_VNNI512 mg_i32x16 mg_vnni512_odd(mg_i32x16 x)
{
    return (mg_i32x16)((mg_u64x8)x >> 32);
}

/* mg_requantize_right of 16 sums; right: the shifts less 1. */
MG_VNNI512 mg_i32x16 mg_vnni512_twice(mg_i32x16 x, mg_i32x16 mult, mg_i32x16 right)
{
    const int64_t half = (int64_t)1 << 30;
    const mg_i64x8 even = mg_vnni512_wide_products(x, mult) + half;
    const mg_i64x8 odd = mg_vnni512_wide_products(mg_vnni512_odd(x), mg_vnni512_odd(mult)) + half;
    const mg_i32x16 high = mg_vnni512_even_odd((mg_u64x8)even >> 31, (mg_u64x8)odd << 1);
    return (((high + (high >> 31)) >> right) + 1) >> 1;
}

/* mg_requantize_away of 16 sums; right: the shifts less 1. */
MG_VNNI512 mg_i32x16 mg_vnni512_once(mg_i32x16 x, mg_i32x16 mult, mg_i32x16 right)
{
    const mg_u64x8 half = ((mg_u64x8)mg_vnni512_all(0) + 1u) << 31;
    mg_i64x8 even = mg_vnni512_wide_products(x, mult);
    mg_i64x8 odd = mg_vnni512_wide_products(mg_vnni512_odd(x), mg_vnni512_odd(mult));
    even += (mg_i64x8)(half << ((mg_u64x8)right & 0xffffffffu)) + (even >> 63);
    odd += (mg_i64x8)(half << ((mg_u64x8)right >> 32)) + (odd >> 63);
    return mg_vnni512_even_odd((mg_u64x8)even >> 32, (mg_u64x8)odd) >> right;
}

static inline MG_TARGET_vnni512 void mg_vnni512_finish(const mg_simd_scale *p, uint32_t o, const int32_t *sums,
                                                       uint32_t pixels, int8_t *out, uint32_t pitch, uint32_t n)
{
    const mg_i32x16 mult = mg_vnni512_load(p->mult + o), least = mg_vnni512_all(p->low);
    const mg_i32x16 most = mg_vnni512_all(p->high);
    const mg_u32x16 bias = (mg_u32x16)mg_vnni512_load(p->bias + o);
    const void *const shifts = p->right + o;
    mg_i32x16 right;
    __asm__("vpmovzxbd %1, %0" : "=v"(right) : "m"(*(const mg_16_bytes *)shifts));
    right -= 1;
    for (uint32_t i = 0u; i < pixels; i += 1u) {
        const mg_i32x16 x = (mg_i32x16)((mg_u32x16)mg_vnni512_load(sums + i * MG_SIMD_LANES) + bias);
        mg_i32x16 y = p->once != 0u ? mg_vnni512_once(x, mult, right) : mg_vnni512_twice(x, mult, right);
        mg_i8x16 bytes;
        y += p->zero_point;
        __asm__("vpmaxsd %2, %1, %0" : "=v"(y) : "v"(y), "v"(least));
        __asm__("vpminsd %2, %1, %0" : "=v"(y) : "v"(y), "v"(most));
        __asm__("vpmovdb %1, %0" : "=v"(bytes) : "v"(y));
        if (n == MG_SIMD_LANES) {
            (void)memcpy(out + i * pitch, &bytes, sizeof(bytes));
        } else {
            (void)memcpy(out + i * pitch, &bytes, n);
        }
    }
}

#endif /* MCUGEN_SIMD_VNNI512_H */
