/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by functions that quantize float data at run time: vectors to int8, each with its own scale and zero point.
 *
 *   symmetric:  s = max|x| / 127, q = round(x * (127 / max|x|))
 *   else:       s = (max - min) / 255, q = round(x * (1 / s)) + z; min <= 0 <= max
 *
 * Needs -ffp-contract=off.
 */
#ifndef MCUGEN_DYNAMIC_RANGE_H
#define MCUGEN_DYNAMIC_RANGE_H

#include "mcugen/curves.h"
#include "mcugen/saturate.h"

typedef struct {
    float low, high;
} mg_range;

/* Range of the elements, extended so that it includes 0. NaN does not count. */
static inline mg_range mg_range_of(const mg_f32 *x, uint32_t n)
{
    mg_range found = {0.0f, 0.0f};
    for (uint32_t i = 0u; i < n; i += 1u) {
        found.low = x[i] < found.low ? x[i] : found.low;
        found.high = x[i] > found.high ? x[i] : found.high;
    }
    return found;
}

/* Extends a range, given by the bits of its bounds, so that it includes x. */
static MCUGEN_INLINE void mg_include(float x, uint32_t *low, int32_t *high)
{
    const uint32_t bits = mg_bits_of(x);
    *low = bits > *low ? bits : *low;
    *high = (int32_t)bits > *high ? (int32_t)bits : *high;
}

/* Whether the core has float vectors. They treat numbers below 2^-126 as 0, whatever FPSCR says. */
#if defined(__ARM_FEATURE_MVE) && !defined(MCUGEN_CHECK_TEXT)
#define MG_RANGE_VECTORS ((__ARM_FEATURE_MVE & 2) != 0)
#else
#define MG_RANGE_VECTORS 0
#endif

/* mg_range_of by the floats' bits as integers, which takes fewer instructions. If an element is NaN or infinite, one of
 * the bounds is too. */
static inline mg_range mg_range_by_bits(const mg_f32 *x, uint32_t n)
{
    uint32_t low = 0x80000000u;
    int32_t high = 0;
#if MG_RANGE_VECTORS
    __asm__("vdup.32 q1, %1\n"
            "vdup.32 q2, %2\n"
            "wlstp.32 lr, %3, 2f\n"
            "1:\n"
            "vldrw.u32 q0, [%0], #16\n"
            "vmax.u32 q1, q1, q0\n"
            "vmax.s32 q2, q2, q0\n"
            "letp lr, 1b\n"
            "2:\n"
            "vmaxv.u32 %1, q1\n"
            "vmaxv.s32 %2, q2\n"
            : "+r"(x), "+r"(low), "+r"(high)
            : "r"(n)
            : "q0", "q1", "q2", "lr", "cc", "memory");
#else
    const uint32_t fours = n & ~3u;
    for (uint32_t i = 0u; i < fours; i += 4u) {
        mg_include(x[i], &low, &high);
        mg_include(x[i + 1u], &low, &high);
        mg_include(x[i + 2u], &low, &high);
        mg_include(x[i + 3u], &low, &high);
    }
    for (uint32_t i = fours; i < n; i += 1u) {
        mg_include(x[i], &low, &high);
    }
#endif
    const mg_range found = {mg_of_bits(low), mg_of_bits((uint32_t)high)};
    return found;
}

/* The nearest integer, halves away from zero. The bounds make the conversion to an integer safe. */
static inline int32_t mg_nearest(double x)
{
    const double bounded = x > 1024.0 ? 1024.0 : (x > -1024.0 ? x : -1024.0);
    const int32_t whole = (int32_t)bounded;
    const double rest = bounded - (double)whole;
    return whole + (rest >= 0.5 ? 1 : (rest <= -0.5 ? -1 : 0));
}

/* mg_nearest for a float, computed in float without rounding errors. */
static inline int32_t mg_nearest_float(float x)
{
    const float bounded = x > 1024.0f ? 1024.0f : (x > -1024.0f ? x : -1024.0f);
    const int32_t whole = (int32_t)bounded;
    const float rest = bounded - (float)whole;
    return whole + (rest >= 0.5f ? 1 : (rest <= -0.5f ? -1 : 0));
}

/* The zero point, computed from the end of the range that gives the smaller error. */
static inline int32_t mg_zero_point_of(double low, double high)
{
    const double low_error = 128.0 + (low < 0.0 ? -low : low), high_error = 127.0 + (high < 0.0 ? -high : high);
    return mg_clamp(mg_nearest(low_error < high_error ? -128.0 - low : 127.0 - high), INT8_MIN, INT8_MAX);
}

/* q = clamp(round(x * inverse) + zero, least, 127), for all floats. */
static inline void mg_quantize_steps(const mg_f32 *x, uint32_t n, float inverse, int32_t zero, int32_t least,
                                     int8_t *q)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        const float steps = x[i] * inverse;
        q[i] = (int8_t)mg_clamp(mg_nearest_float(steps) + zero, least, 127);
    }
}

/* clamp(round(steps) + zero) with half = (zero + 1/2) * 2^20, for steps below 1024, in fixed point. */
static MCUGEN_INLINE int8_t mg_quantized_value(float steps, int32_t half)
{
    const int32_t fixed = mg_in_fixed_point(steps, 20u);
    return (int8_t)mg_saturated_s8((fixed + (fixed >> 31) + half) >> 20);
}

/* mg_quantize_steps for products below 1024 and `inverse` from 1e-30 to 1e30. The lower bound is -128: where `least` is
 * -127, no product is below -127.5. */
static inline void mg_quantize_few_steps(const mg_f32 *x, uint32_t n, float inverse, int32_t zero, int8_t *q)
{
#if MG_RANGE_VECTORS
    __asm__ volatile("vdup.32 q1, %3\n"
                     "vdup.32 q2, %4\n"
                     "wlstp.32 lr, %2, 2f\n"
                     "1:\n"
                     "vldrw.u32 q0, [%0], #16\n"
                     "vmul.f32 q0, q0, q1\n"
                     "vcvta.s32.f32 q0, q0\n"
                     "vadd.i32 q0, q0, q2\n"
                     "vqmovnb.s32 q0, q0\n"
                     "vqmovnb.s16 q0, q0\n"
                     "vstrb.32 q0, [%1], #4\n"
                     "letp lr, 1b\n"
                     "2:\n"
                     : "+r"(x), "+l"(q)
                     : "r"(n), "r"(mg_bits_of(inverse)), "r"(zero)
                     : "q0", "q1", "q2", "lr", "cc", "memory");
#else
    const int32_t half = (zero * 2 + 1) * (1 << 19);
    const uint32_t fours = n & ~3u;
    for (uint32_t i = 0u; i < fours; i += 4u) {
        q[i] = mg_quantized_value(x[i] * inverse, half);
        q[i + 1u] = mg_quantized_value(x[i + 1u] * inverse, half);
        q[i + 2u] = mg_quantized_value(x[i + 2u] * inverse, half);
        q[i + 3u] = mg_quantized_value(x[i + 3u] * inverse, half);
    }
    for (uint32_t i = fours; i < n; i += 1u) {
        q[i] = mg_quantized_value(x[i] * inverse, half);
    }
#endif
}

static inline void mg_quantize_by(const mg_f32 *x, uint32_t n, uint32_t finite, float inverse, int32_t zero, int32_t least,
                                  int8_t *q)
{
    if (finite != 0u && inverse > 1e-30f && inverse < 1e30f) {
        mg_quantize_few_steps(x, n, inverse, zero, q);
    } else {
        mg_quantize_steps(x, n, inverse, zero, least, q);
    }
}

/* Quantizes n elements of x to q, with one scale and one zero point. If all x are 0, the scale is 1. */
static inline void mg_quantize_range(const mg_f32 *x, uint32_t n, uint32_t symmetric, int8_t *q, mg_f32 *scale,
                                     int8_t *zero)
{
    const mg_range quick = mg_range_by_bits(x, n);
    const uint32_t finite = (uint32_t)(quick.low > -MCUGEN_INFINITY && quick.high < MCUGEN_INFINITY);
    const mg_range found = finite != 0u ? quick : mg_range_of(x, n);
    const float most = -found.low > found.high ? -found.low : found.high;
    scale[0] = 1.0f;
    zero[0] = 0;
    if (!(most > 0.0f)) {
        (void)memset(q, 0, n);
    } else if (symmetric != 0u) {
        scale[0] = most / 127.0f;
        mg_quantize_by(x, n, finite, 127.0f / most, 0, -127, q);
    } else {
        const float width = found.high - found.low;
        const double step = (double)width / 255.0;
        scale[0] = (float)step;
        zero[0] = (int8_t)mg_zero_point_of((double)found.low / step, (double)found.high / step);
        mg_quantize_by(x, n, finite, 1.0f / scale[0], zero[0], -128, q);
    }
}

#endif /* MCUGEN_DYNAMIC_RANGE_H */
