/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversion of finite float16 constants, stored as their bits, to float.
 */
#ifndef MCUGEN_HALF_H
#define MCUGEN_HALF_H

#include "mcugen/runtime.h"

/* Arm FPUs with fused multiply-add also have instructions that convert float16. */
#if defined(__ARM_FEATURE_FMA) && defined(__ARM_FP) && defined(__GNUC__) && !defined(__aarch64__)
#define MG_HALF_CONVERTS
#endif

static inline float mg_half_value(uint16_t bits)
{
    float value;
#if defined(MG_HALF_CONVERTS)
    const uint32_t word = bits;
    memcpy(&value, &word, sizeof(value));
    __asm__("vcvtb.f32.f16 %0, %1" : "=t"(value) : "t"(value));
#else
    const uint32_t sign = (uint32_t)(bits & 0x8000u) << 16, size = bits & 0x7FFFu;
    uint32_t word = sign | ((size << 13) + 0x38000000u); /* the exponent's bias is 127 instead of 15 */
    if (size < 0x400u) { /* zeros and subnormals: multiples of 2^-24 */
        const float small = (float)(int32_t)size * 5.9604644775390625e-8f;
        memcpy(&word, &small, sizeof(word));
        word |= sign;
    }
    memcpy(&value, &word, sizeof(value));
#endif
    return value;
}

#endif /* MCUGEN_HALF_H */
