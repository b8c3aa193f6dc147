/* SPDX-License-Identifier: Apache-2.0
 *
 * exp, tanh and erf of floats by integers, so that every core, compiler and C library gives the same bits: no table, no
 * loop, and at most one division of floats. tests/ops/test_curves.py proves the errors.
 *
 *   function   largest error over all floats, in units of the last place of the exact result
 *   mg_exp     1.6
 *   mg_tanh    1.3
 *   mg_erf     1.6
 *
 * NaN gives NaN. Polynomials have the least possible largest error on their interval.
 */
#ifndef MCUGEN_CURVES_H
#define MCUGEN_CURVES_H

#include "mcugen/bits.h"

#define MG_CURVES_MAGNITUDE 0x7FFFFFFFu
#define MG_CURVES_INFINITY 0x7F800000u

/* Whether floats are computed by a library, because the core has no instructions for them. */
#if (defined(__ARM_ARCH) && !defined(__ARM_FP)) || (defined(__riscv) && !defined(__riscv_flen)) || defined(__AVR__)
#define MG_CURVES_SOFT 1
#else
#define MG_CURVES_SOFT 0
#endif

static MCUGEN_INLINE uint32_t mg_bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static MCUGEN_INLINE float mg_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* x 2^fraction, rounded to 0; its magnitude is below 2^31. */
static MCUGEN_INLINE int32_t mg_in_fixed_point(float x, uint32_t fraction)
{
#if MG_CURVES_SOFT
    const uint32_t bits = mg_bits_of(x), exponent = (bits >> 23) & 255u;
    const uint32_t shift = 158u - fraction - exponent;
    const int32_t size = (int32_t)(shift > 31u ? 0u : (bits << 8 | 0x80000000u) >> shift);
    return bits >> 31 != 0u ? -size : size;
#else
    return (int32_t)(x * (float)((uint32_t)1 << fraction));
#endif
}

/* The upper 32 bits of a * b. A function of its own where it takes several multiplications. */
#if MG_LONG_PRODUCTS || defined(__riscv_mul)
static MCUGEN_INLINE uint32_t mg_upper(uint32_t a, uint32_t b)
{
    return (uint32_t)(((uint64_t)a * b) >> 32);
}
#else
#if !defined(MCUGEN_CHECK_TEXT)
__attribute__((noinline))
#endif
static uint32_t mg_upper(uint32_t a, uint32_t b)
{
    return mg_upper_by_halves(a, b);
}
#endif

/* 2^f - 1; f and the result have 32 bits of fraction. */
static MCUGEN_INLINE uint32_t mg_power_of_two(uint32_t f)
{
    uint32_t sum = 0x000E2A0Cu;
    sum = mg_upper(sum, f) + 0x0051B593u;
    sum = mg_upper(sum, f) + 0x027A1724u;
    sum = mg_upper(sum, f) + 0x0E34488Au;
    sum = mg_upper(sum, f) + 0x3D7FAAF3u;
    sum = mg_upper(sum, f) + 0xB17215AFu;
    return mg_upper(sum, f);
}

/* exp(x) = 2^n 2^f, with n + f = x log2(e). */
static inline float mg_exp(float x)
{
    const uint32_t bits = mg_bits_of(x), magnitude = bits & MG_CURVES_MAGNITUDE;
    if (magnitude > 0x42CF0000u) { /* 103.5, beyond which results are 0 or infinite */
        return magnitude > MG_CURVES_INFINITY ? x : mg_of_bits(bits >> 31 != 0u ? 0u : MG_CURVES_INFINITY);
    }
    const int64_t power = (int64_t)mg_in_fixed_point(x, 24u) * 1549082005;
    const int32_t exponent = (int32_t)(power >> 54) + 127;
    const uint32_t half = mg_power_of_two((uint32_t)(uint64_t)(power >> 22)) >> 1;
    if ((uint32_t)(exponent - 1) > 253u) { /* the result is infinite or subnormal */
        const uint32_t shift = (uint32_t)(8 - exponent);
        return mg_of_bits(exponent > 254 ? MG_CURVES_INFINITY
                                         : ((half >> 1) + 0x40000000u + ((uint32_t)1 << (shift - 1u))) >> shift);
    }
    return mg_of_bits(((uint32_t)exponent << 23) + ((half + 128u) >> 8));
}

/* 1 - 2 / (1 + exp(2 |x|)), or x times a polynomial in x^2 where |x| < 9/16. */
static inline float mg_tanh(float x)
{
    const uint32_t bits = mg_bits_of(x), magnitude = bits & MG_CURVES_MAGNITUDE, sign = bits ^ magnitude;
    if (magnitude > 0x41200000u) { /* 10 */
        return magnitude > MG_CURVES_INFINITY ? x : mg_of_bits(sign | 0x3F800000u);
    }
    if (magnitude < 0x3F100000u) {
        const uint32_t q = (uint32_t)mg_in_fixed_point(mg_of_bits(magnitude), 31u) << 1, square = mg_upper(q, q);
        uint32_t sum = 0x055E7CFCu - mg_upper(0x01926488u, square);
        sum = 0x0DC794E0u - mg_upper(sum, square);
        sum = 0x2221758Cu - mg_upper(sum, square);
        sum = 0x555550B5u - mg_upper(sum, square);
        return x * ((float)(0xFFFFFFFBu - mg_upper(sum, square)) * 2.3283064365386963e-10f);
    }
    const uint64_t power = (uint64_t)(uint32_t)mg_in_fixed_point(mg_of_bits(magnitude), 27u) * 3098164009u;
    const uint32_t one = (uint32_t)0x40000000u >> (uint32_t)(power >> 57);
    const uint32_t sum = 0x40000000u + (mg_power_of_two((uint32_t)(power >> 25)) >> 2) + one;
    return mg_of_bits(sign | mg_bits_of(1.0f - (float)(one << 1) / (float)sum));
}

/* (int32_t)(a * b / 2^32), rounded down. */
static MCUGEN_INLINE int32_t mg_signed_upper(int32_t a, int32_t b)
{
    return (int32_t)(((int64_t)a * b) >> 32);
}

/* 1 - 2^-h with a polynomial h in |x|, or x times a polynomial in x^2 where |x| < 7/8. */
static inline float mg_erf(float x)
{
    const uint32_t bits = mg_bits_of(x), magnitude = bits & MG_CURVES_MAGNITUDE, sign = bits ^ magnitude;
    if (magnitude >= 0x40800000u) { /* 4 */
        return magnitude > MG_CURVES_INFINITY ? x : mg_of_bits(sign | 0x3F800000u);
    }
    if (magnitude < 0x3F600000u) {
        const uint32_t q = (uint32_t)mg_in_fixed_point(mg_of_bits(magnitude), 31u) << 1, square = mg_upper(q, q);
        uint32_t sum = 0x00A4E4FFu - mg_upper(0x001453ABu, square);
        sum = 0x036DE715u - mg_upper(sum, square);
        sum = 0x0E7108F3u - mg_upper(sum, square);
        sum = 0x3024E16Bu - mg_upper(sum, square);
        return x * ((float)(0x906EBA6Du - mg_upper(sum, square)) * 4.656612873077393e-10f);
    }
    const int32_t q = mg_in_fixed_point(mg_of_bits(magnitude), 29u);
    int32_t sum = -1564252702 + mg_signed_upper(1013229322, q);
    sum = 1136443366 + mg_signed_upper(sum, q);
    sum = 1006736982 + mg_signed_upper(sum, q);
    sum = 217026678 + mg_signed_upper(sum, q);
    sum = -41364 - mg_signed_upper(sum, q); /* -h with 24 bits of fraction */
    const uint32_t rest = (0x80000000u | (mg_power_of_two((uint32_t)sum << 8) >> 1)) >> (uint32_t)-(sum >> 24);
    const int32_t part = (int32_t)(0x80000000u - rest);
    return (float)(bits >> 31 != 0u ? -part : part) * 4.656612873077393e-10f;
}

#endif /* MCUGEN_CURVES_H */
