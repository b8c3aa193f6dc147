/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels for x86-64 and 64-bit Arm: what the processor has, and constants that all kernels share.
 *
 * A kernel is written once, over a set of vector operations, and compiled for several sets. Each set is a header
 * simd_<set>.h, which documents its operations at those of simd_plain.h, the set in plain C. At run time the best set
 * that the processor has computes; all of them read the same constants and have the same results.
 *
 * MG_HAS_X86   1 if the compiler builds for x86-64: all its sets are compiled, whatever the flags
 * MG_HAS_ARM   the same for 64-bit Arm, little-endian
 * MG_SIMD_OF(name)  the name of a function or type of the set MG_SET
 * MG_TARGET    the attribute of functions that use the set MG_SET
 */
#ifndef MCUGEN_SIMD_H
#define MCUGEN_SIMD_H

#include "mcugen/runtime.h"

#if defined(__x86_64__) && !defined(MCUGEN_CHECK_TEXT)
#define MG_HAS_X86 1
#else
#define MG_HAS_X86 0
#endif

#if defined(__aarch64__) && !defined(__ARM_BIG_ENDIAN) && !defined(MCUGEN_CHECK_TEXT)
#define MG_HAS_ARM 1
#else
#define MG_HAS_ARM 0
#endif

#define MG_OF__(set, name) mg_##set##_##name
#define MG_OF_(set, name) MG_OF__(set, name)
#define MG_SIMD_OF(name) MG_OF_(MG_SET, name)
#define MG_TARGET__(set) MG_TARGET_##set
#define MG_TARGET_(set) MG_TARGET__(set)
#define MG_TARGET MG_TARGET_(MG_SET)

/* Outputs that are computed together, and taps of a group. */
#define MG_SIMD_LANES 16u
#define MG_SIMD_TAPS 4u

/* Requantization, with arrays that are filled up to whole blocks of 16 channels.
 *
 *   y[o] = clamp(requantize(bias[o] + sum, mult[o], -right[o]) + zero_point), right[o] >= 1
 *
 * once: 0 rounds like mg_requantize_right, 1 like mg_requantize_away. low, high: within int8. */
typedef struct {
    const int32_t *bias, *mult;
    const uint8_t *right;
    int16_t zero_point, low, high;
    uint8_t once;
} mg_simd_scale;

/* A sum of two int8 tensors as one linear form: clamp((a * x + b * y + addend) / 2^21), rounded down. Nothing leaves 32
 * bits. low, high: within int8. */
typedef struct {
    int32_t a, b, addend;
    int16_t low, high;
} mg_simd_sum;

/* Fetches the weights that follow these ones soon: some 16 lines of the cache ahead. */
static MCUGEN_INLINE void mg_simd_fetch(const void *w)
{
#if MG_HAS_X86
    __builtin_prefetch((const int8_t *)w + 1024);
#else
    (void)w;
#endif
}

/* The sets of a processor, in the order of their speed. */
#define MG_SIMD_PLAIN 0u
#define MG_SIMD_AVX2 1u
#define MG_SIMD_VNNI 2u
#define MG_SIMD_VNNI512 3u
#define MG_SIMD_NEON 1u
#define MG_SIMD_DOTPROD 2u

/* The best set that may be used; tests define a lower one. */
#ifndef MCUGEN_SIMD_MOST
#define MCUGEN_SIMD_MOST 3u
#endif

#if MG_HAS_X86
/* 1 if the compiler has a name for AVX-VNNI in questions to the processor; Clang 14 has none. */
#if !defined(__clang__) && __GNUC__ >= 11
#define MG_SIMD_KNOWS_VNNI 1
#else
#define MG_SIMD_KNOWS_VNNI 0
#endif

/* The best set that the processor has: vnni with AVX-VNNI, vnni512 with AVX512-VNNI. */
static inline uint32_t mg_simd_set(void)
{
    if (MCUGEN_SIMD_MOST >= MG_SIMD_VNNI512 && __builtin_cpu_supports("avx512vnni") &&
        __builtin_cpu_supports("avx512f")) {
        return MG_SIMD_VNNI512;
    }
#if MG_SIMD_KNOWS_VNNI
    if (MCUGEN_SIMD_MOST >= MG_SIMD_VNNI && __builtin_cpu_supports("avxvnni")) {
        return MG_SIMD_VNNI;
    }
#endif
    return MCUGEN_SIMD_MOST >= MG_SIMD_AVX2 && __builtin_cpu_supports("avx2") ? MG_SIMD_AVX2 : MG_SIMD_PLAIN;
}
#endif

#if MG_HAS_ARM
/* 1 if the compiler has the intrinsics of a set whatever its flags, for functions that state the set. */
#if defined(__ARM_FEATURE_DOTPROD) || (defined(__clang__) ? __clang_major__ >= 16 : __GNUC__ >= 8)
#define MG_ARM_KNOWS_DOTPROD 1
#else
#define MG_ARM_KNOWS_DOTPROD 0
#endif

#if defined(__linux__)
#include <sys/auxv.h>
#endif

/* Whether the processor has the products of four bytes of Armv8.2. Other systems than Linux are not asked: they have
 * what the compiler may use everywhere. */
static inline int mg_arm_has_dotprod(void)
{
#if defined(__linux__)
    return (getauxval(AT_HWCAP) >> 20 & 1u) != 0u;
#elif defined(__ARM_FEATURE_DOTPROD)
    return 1;
#else
    return 0;
#endif
}

/* The best set that the processor has; every one has neon. */
static inline uint32_t mg_simd_set(void)
{
#if MG_ARM_KNOWS_DOTPROD
    if (MCUGEN_SIMD_MOST >= MG_SIMD_DOTPROD && mg_arm_has_dotprod()) {
        return MG_SIMD_DOTPROD;
    }
#endif
    return MCUGEN_SIMD_MOST >= MG_SIMD_NEON ? MG_SIMD_NEON : MG_SIMD_PLAIN;
}
#endif

#endif /* MCUGEN_SIMD_H */
