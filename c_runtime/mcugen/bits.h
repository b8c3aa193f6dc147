/* SPDX-License-Identifier: Apache-2.0
 *
 * Bit lengths, and products without a 64-bit multiplication on cores that lack one.
 */
#ifndef MCUGEN_BITS_H
#define MCUGEN_BITS_H

#include "mcugen/runtime.h"

/* Whether the core multiplies 32 by 32 bits to 64 bits in one instruction. Armv6-M and Armv8-M Baseline call a library
 * function; RISC-V takes two multiplications. */
#if (defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB >= 2) || defined(__x86_64__) || defined(__aarch64__)
#define MG_LONG_PRODUCTS 1
#else
#define MG_LONG_PRODUCTS 0
#endif

/* The number of zero bits above the highest one of x > 0. */
static MCUGEN_INLINE uint32_t mg_zeros_above(uint32_t x)
{
#if (defined(__ARM_FEATURE_CLZ) || defined(__riscv_zbb)) && !defined(MCUGEN_CHECK_TEXT)
    return (uint32_t)__builtin_clz(x);
#else
    uint32_t zeros = 0u;
    uint32_t rest = x;
    if (rest >> 16 == 0u) {
        zeros = 16u;
        rest <<= 16;
    }
    if (rest >> 24 == 0u) {
        zeros += 8u;
        rest <<= 8;
    }
    if (rest >> 28 == 0u) {
        zeros += 4u;
        rest <<= 4;
    }
    if (rest >> 30 == 0u) {
        zeros += 2u;
        rest <<= 2;
    }
    return zeros + 1u - (rest >> 31);
#endif
}

/* The upper 32 bits of a * b, by four products of 16 bits. */
static MCUGEN_INLINE uint32_t mg_upper_by_halves(uint32_t a, uint32_t b)
{
    const uint32_t a1 = a >> 16, a0 = a & 0xFFFFu, b1 = b >> 16, b0 = b & 0xFFFFu;
    const uint32_t first = a1 * b0 + ((a0 * b0) >> 16), second = a0 * b1 + (first & 0xFFFFu);
    return a1 * b1 + (first >> 16) + (second >> 16);
}

/* The low 32 bits of (x * factor) >> shift, factor < 2^16, shift < 64. */
static MCUGEN_INLINE uint32_t mg_scaled_part(uint32_t x, uint32_t factor, uint32_t shift)
{
#if MG_LONG_PRODUCTS
    return (uint32_t)(((uint64_t)x * factor) >> shift);
#else
    const uint32_t high = (x >> 16) * factor, low = (x & 0xFFFFu) * factor;
    return shift <= 16u ? (high << (16u - shift)) + (low >> shift)
                        : shift < 48u ? (high + (low >> 16)) >> (shift - 16u) : 0u;
#endif
}

/* The low 32 bits of (x * a + y * b) >> shift, a + b <= 65,536, shift <= 16. */
static MCUGEN_INLINE uint32_t mg_scaled_sum(uint32_t x, uint32_t a, uint32_t y, uint32_t b, uint32_t shift)
{
#if MG_LONG_PRODUCTS
    return (uint32_t)(((uint64_t)x * a + (uint64_t)y * b) >> shift);
#else
    const uint32_t high = (x >> 16) * a + (y >> 16) * b, low = (x & 0xFFFFu) * a + (y & 0xFFFFu) * b;
    return (high << (16u - shift)) + (low >> shift);
#endif
}

/* x - y; 0 if y is larger. */
static MCUGEN_INLINE uint32_t mg_excess(uint32_t x, uint32_t y)
{
    return x > y ? x - y : 0u;
}

static MCUGEN_INLINE uint32_t mg_smaller(uint32_t x, uint32_t y)
{
    return x < y ? x : y;
}

static MCUGEN_INLINE uint32_t mg_larger(uint32_t x, uint32_t y)
{
    return x > y ? x : y;
}

#endif /* MCUGEN_BITS_H */
