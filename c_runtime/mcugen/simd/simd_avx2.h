/* SPDX-License-Identifier: Apache-2.0
 *
 * The vector operations of simd_plain.h with AVX2. Functions state the instructions that they use, so that a file is
 * compiled for any x86-64 processor.
 *
 * Products of four taps are the sums of two products of pairs, as VPMADDWD computes them; each channel has two partial
 * sums, which are added at the end.
 */
#ifndef MCUGEN_SIMD_AVX2_H
#define MCUGEN_SIMD_AVX2_H

#include "mcugen/simd_plain.h"

#define MG_TARGET_avx2 __attribute__((target("avx2")))
#define MG_PIXELS_avx2 1u /* that depthwise convolutions compute together */
#define MG_AVX2 static inline __attribute__((target("avx2"), always_inline)) /* in functions of this target only */

typedef int8_t mg_i8x16 __attribute__((vector_size(16)));
typedef int16_t mg_i16x8 __attribute__((vector_size(16)));
typedef int32_t mg_i32x4 __attribute__((vector_size(16)));
typedef int16_t mg_i16x16 __attribute__((vector_size(32)));
typedef int32_t mg_i32x8 __attribute__((vector_size(32)));
typedef uint32_t mg_u32x8 __attribute__((vector_size(32)));
typedef int64_t mg_i64x4 __attribute__((vector_size(32)));
typedef uint64_t mg_u64x4 __attribute__((vector_size(32)));

/* Bytes in memory, for operands of instructions that load them. */
typedef struct {
    int8_t at[16];
} MCUGEN_MAY_ALIAS mg_16_bytes;

typedef struct {
    uint8_t at[8];
} MCUGEN_MAY_ALIAS mg_8_bytes;

/* Two partial sums of each of channels 0 to 3, 4 to 7, 8 to 11 and 12 to 15. For mg_avx2_dot_s16: a and b have the
 * sums of channels 0 to 3 and 8 to 11, and of the other channels. */
typedef struct {
    mg_u32x8 a, b, c, d;
} mg_avx2_sums;

typedef struct {
    mg_i16x16 a, b, c, d;
} mg_avx2_weights;

typedef mg_i16x16 mg_avx2_taps;

MG_AVX2 mg_u32x8 mg_avx2_products(mg_i16x16 a, mg_i16x16 b)
{
    mg_u32x8 sums;
    __asm__("vpmaddwd %2, %1, %0" : "=x"(sums) : "x"(a), "xm"(b));
    return sums;
}

MG_AVX2 mg_avx2_sums mg_avx2_zero(void)
{
    const mg_u32x8 zero = {0, 0, 0, 0, 0, 0, 0, 0};
    const mg_avx2_sums s = {zero, zero, zero, zero};
    return s;
}

/* 16 bytes as int16. */
MG_AVX2 mg_i16x16 mg_avx2_widened(const void *from)
{
    mg_i16x16 wide;
    __asm__("vpmovsxbw %1, %0" : "=x"(wide) : "m"(*(const mg_16_bytes *)from));
    return wide;
}

MG_AVX2 mg_avx2_weights mg_avx2_load_s8(const int8_t *w)
{
    const mg_avx2_weights found = {mg_avx2_widened(w), mg_avx2_widened(w + 16), mg_avx2_widened(w + 32),
                                   mg_avx2_widened(w + 48)};
    return found;
}

MG_AVX2 mg_i16x16 mg_avx2_halves(const int16_t *from)
{
    mg_i16x16 halves;
    (void)memcpy(&halves, from, sizeof(halves));
    return halves;
}

MG_AVX2 mg_avx2_weights mg_avx2_load_s8w16(const int16_t *w)
{
    const mg_avx2_weights found = {mg_avx2_halves(w), mg_avx2_halves(w + 16), mg_avx2_halves(w + 32),
                                   mg_avx2_halves(w + 48)};
    return found;
}

/* Four taps, four times. */
MG_AVX2 mg_avx2_taps mg_avx2_taps_u8(const void *x)
{
    mg_i32x4 all;
    mg_avx2_taps wide;
    __asm__("vpbroadcastd %1, %0" : "=x"(all) : "m"(*(const mg_4_bytes *)x));
    __asm__("vpmovzxbw %1, %0" : "=x"(wide) : "x"(all));
    return wide;
}

MG_AVX2 mg_avx2_sums mg_avx2_dot(mg_avx2_sums s, mg_avx2_taps x, mg_avx2_weights w)
{
    s.a += mg_avx2_products(x, w.a);
    s.b += mg_avx2_products(x, w.b);
    s.c += mg_avx2_products(x, w.c);
    s.d += mg_avx2_products(x, w.d);
    return s;
}

MG_AVX2 mg_avx2_sums mg_avx2_dot_s16(mg_avx2_sums s, const mg_s16 *a, const mg_s16 *b, const int16_t *w)
{
    mg_i16x16 first, second, low, high, weights_low, weights_high;
    (void)memcpy(&first, a, sizeof(first));
    (void)memcpy(&second, b, sizeof(second));
    (void)memcpy(&weights_low, w, sizeof(weights_low));
    (void)memcpy(&weights_high, w + 16, sizeof(weights_high));
    __asm__("vpunpcklwd %2, %1, %0" : "=x"(low) : "x"(first), "x"(second));
    __asm__("vpunpckhwd %2, %1, %0" : "=x"(high) : "x"(first), "x"(second));
    s.a += mg_avx2_products(low, weights_low);
    s.b += mg_avx2_products(high, weights_high);
    return s;
}

/* The sums of both partial sums of eight channels; a: of the first four, b: of the others. */
MG_AVX2 mg_u32x8 mg_avx2_added(mg_u32x8 a, mg_u32x8 b)
{
    mg_u32x8 sums;
    __asm__("vphaddd %2, %1, %0\n\tvpermq $0xd8, %0, %0" : "=x"(sums) : "x"(a), "x"(b));
    return sums;
}

MG_AVX2 void mg_avx2_store_dots(int32_t *to, mg_avx2_sums s)
{
    const mg_u32x8 low = mg_avx2_added(s.a, s.b), high = mg_avx2_added(s.c, s.d);
    (void)memcpy(to, &low, sizeof(low));
    (void)memcpy(to + 8, &high, sizeof(high));
}

MG_AVX2 void mg_avx2_store_pairs(int32_t *to, mg_avx2_sums s)
{
    mg_u32x8 low, high;
    __asm__("vperm2i128 $0x20, %2, %1, %0" : "=x"(low) : "x"(s.a), "x"(s.b));
    __asm__("vperm2i128 $0x31, %2, %1, %0" : "=x"(high) : "x"(s.a), "x"(s.b));
    (void)memcpy(to, &low, sizeof(low));
    (void)memcpy(to + 8, &high, sizeof(high));
}

static inline MG_TARGET_avx2 void mg_avx2_flip(const int8_t *in, uint8_t *out, uint32_t n)
{
    const uint32_t whole = n & ~31u;
    for (uint32_t i = 0u; i < whole; i += 32u) {
        mg_u64x4 bytes;
        (void)memcpy(&bytes, in + i, sizeof(bytes));
        bytes ^= 0x8080808080808080u;
        (void)memcpy(out + i, &bytes, sizeof(bytes));
    }
    mg_plain_flip(in + whole, out + whole, n - whole);
}

static inline MG_TARGET_avx2 void mg_avx2_widen(const int8_t *in, mg_s16 *out, int32_t zero, uint32_t n)
{
    const uint32_t whole = n & ~15u;
    const int16_t least = (int16_t)zero;
    for (uint32_t i = 0u; i < whole; i += 16u) {
        const mg_i16x16 wide = mg_avx2_widened(in + i) - least;
        (void)memcpy(out + i, &wide, sizeof(wide));
    }
    mg_plain_widen(in + whole, out + whole, zero, n - whole);
}

/* The products of the even elements of a and b, as int64. */
MG_AVX2 mg_i64x4 mg_avx2_wide_products(mg_i32x8 a, mg_i32x8 b)
{
    mg_i64x4 products;
    __asm__("vpmuldq %2, %1, %0" : "=x"(products) : "x"(a), "x"(b));
    return products;
}

/* The even elements of a and the odd elements of b. */
MG_AVX2 mg_i32x8 mg_avx2_even_odd(mg_u64x4 a, mg_u64x4 b)
{
    mg_i32x8 both;
    __asm__("vpblendd $0xaa, %2, %1, %0" : "=x"(both) : "x"(a), "x"(b));
    return both;
}

/* Constants of eight channels. round_even, round_odd: the halves that are added before a shift by 31 + right, once. */
typedef struct {
    mg_i32x8 bias, mult, mult_odd, right;
    mg_i64x4 round_even, round_odd;
} mg_avx2_scale;

MG_AVX2 mg_i32x8 mg_avx2_load(const int32_t *from)
{
    mg_i32x8 words;
    (void)memcpy(&words, from, sizeof(words));
    return words;
}

MG_AVX2 mg_avx2_scale mg_avx2_scale_of(const mg_simd_scale *p, uint32_t o)
{
    mg_avx2_scale s;
    const void *const right = p->right + o;
    s.bias = mg_avx2_load(p->bias + o);
    s.mult = mg_avx2_load(p->mult + o);
    s.mult_odd = (mg_i32x8)((mg_u64x4)s.mult >> 32);
    __asm__("vpmovzxbd %1, %0" : "=x"(s.right) : "m"(*(const mg_8_bytes *)right));
    s.right -= 1;
    const mg_u64x4 half = {(uint64_t)1 << 31, (uint64_t)1 << 31, (uint64_t)1 << 31, (uint64_t)1 << 31};
    s.round_even = (mg_i64x4)(half << ((mg_u64x4)s.right & 0xffffffffu));
    s.round_odd = (mg_i64x4)(half << ((mg_u64x4)s.right >> 32));
    return s;
}

/* Eight sums with their biases. */
MG_AVX2 mg_i32x8 mg_avx2_sum(const int32_t *sums, const mg_avx2_scale *p)
{
    return (mg_i32x8)((mg_u32x8)mg_avx2_load(sums) + (mg_u32x8)p->bias);
}

/* mg_requantize_right of eight sums. */
MG_AVX2 mg_i32x8 mg_avx2_twice(const mg_avx2_scale *p, mg_i32x8 x)
{
    const int64_t half = (int64_t)1 << 30;
    const mg_i64x4 even = mg_avx2_wide_products(x, p->mult) + half;
    const mg_i64x4 odd = mg_avx2_wide_products((mg_i32x8)((mg_u64x4)x >> 32), p->mult_odd) + half;
    const mg_i32x8 high = mg_avx2_even_odd((mg_u64x4)even >> 31, (mg_u64x4)odd << 1);
    return (((high + (high >> 31)) >> p->right) + 1) >> 1;
}

/* mg_requantize_away of eight sums. A comparison is -1 where it is true. */
MG_AVX2 mg_i32x8 mg_avx2_once(const mg_avx2_scale *p, mg_i32x8 x)
{
    mg_i64x4 even = mg_avx2_wide_products(x, p->mult);
    mg_i64x4 odd = mg_avx2_wide_products((mg_i32x8)((mg_u64x4)x >> 32), p->mult_odd);
    even += p->round_even + (mg_i64x4)(even < 0);
    odd += p->round_odd + (mg_i64x4)(odd < 0);
    return mg_avx2_even_odd((mg_u64x4)even >> 32, (mg_u64x4)odd) >> p->right;
}

/* 16 words as bytes, saturated and clamped. */
MG_AVX2 mg_i8x16 mg_avx2_bytes(mg_i32x8 low, mg_i32x8 high, mg_i8x16 least, mg_i8x16 most)
{
    mg_i16x16 halves;
    mg_i16x8 upper;
    mg_i8x16 bytes;
    __asm__("vpackssdw %2, %1, %0\n\tvpermq $0xd8, %0, %0" : "=x"(halves) : "x"(low), "x"(high));
    __asm__("vextracti128 $1, %1, %0" : "=x"(upper) : "x"(halves));
    __asm__("vpacksswb %2, %x1, %0\n\tvpmaxsb %3, %0, %0\n\tvpminsb %4, %0, %0"
            : "=&x"(bytes)
            : "x"(halves), "x"(upper), "x"(least), "x"(most));
    return bytes;
}

MG_AVX2 mg_i8x16 mg_avx2_all(int32_t value)
{
    const int8_t v = (int8_t)value;
    const mg_i8x16 all = {v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v};
    return all;
}

static inline MG_TARGET_avx2 void mg_avx2_finish(const mg_simd_scale *p, uint32_t o, const int32_t *sums,
                                                 uint32_t pixels, int8_t *out, uint32_t pitch, uint32_t n)
{
    const mg_avx2_scale low = mg_avx2_scale_of(p, o), high = mg_avx2_scale_of(p, o + 8u);
    const mg_i8x16 least = mg_avx2_all(p->low), most = mg_avx2_all(p->high);
    for (uint32_t i = 0u; i < pixels; i += 1u) {
        const mg_i32x8 x = mg_avx2_sum(sums + i * MG_SIMD_LANES, &low);
        const mg_i32x8 y = mg_avx2_sum(sums + i * MG_SIMD_LANES + 8u, &high);
        const mg_i32x8 a = p->once != 0u ? mg_avx2_once(&low, x) : mg_avx2_twice(&low, x);
        const mg_i32x8 b = p->once != 0u ? mg_avx2_once(&high, y) : mg_avx2_twice(&high, y);
        const mg_i8x16 bytes = mg_avx2_bytes(a + p->zero_point, b + p->zero_point, least, most);
        if (n == MG_SIMD_LANES) {
            (void)memcpy(out + i * pitch, &bytes, sizeof(bytes));
        } else {
            (void)memcpy(out + i * pitch, &bytes, n);
        }
    }
}

/* Eight sums of mg_avx2_add. */
MG_AVX2 mg_i32x8 mg_avx2_form(const mg_simd_sum *p, const void *x, const void *y)
{
    mg_i32x8 a, b;
    __asm__("vpmovsxbd %1, %0" : "=x"(a) : "m"(*(const mg_8_bytes *)x));
    __asm__("vpmovsxbd %1, %0" : "=x"(b) : "m"(*(const mg_8_bytes *)y));
    return (p->addend + a * p->a + b * p->b) >> 21;
}

static inline MG_TARGET_avx2 void mg_avx2_add(const mg_simd_sum *p, const int8_t *a, const int8_t *b, int8_t *out,
                                              uint32_t n)
{
    const mg_i8x16 least = mg_avx2_all(p->low), most = mg_avx2_all(p->high);
    const uint32_t whole = n & ~15u;
    for (uint32_t i = 0u; i < whole; i += 16u) {
        const mg_i32x8 low = mg_avx2_form(p, a + i, b + i), high = mg_avx2_form(p, a + i + 8u, b + i + 8u);
        const mg_i8x16 bytes = mg_avx2_bytes(low, high, least, most);
        (void)memcpy(out + i, &bytes, sizeof(bytes));
    }
    mg_plain_add(p, a + whole, b + whole, out + whole, n - whole);
}

#endif /* MCUGEN_SIMD_AVX2_H */
