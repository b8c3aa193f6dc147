/* SPDX-License-Identifier: Apache-2.0
 *
 * Included by every generated model and kernel: hooks and fixed-point arithmetic.
 *
 * Right shifts of negative numbers are arithmetic, as on every compiler that targets these cores.
 */
#ifndef MCUGEN_RUNTIME_H
#define MCUGEN_RUNTIME_H

#include "mcugen/interface.h"

/* Hooks, empty unless defined on the command line or in a header given by -include.
 * MCUGEN_STEP(i) is expanded before step i.
 * MCUGEN_ROWS(step, output, first, rows, pointer) is expanded after rows [first, first + rows) of an output are
 * written. */
#ifndef MCUGEN_STEP
#define MCUGEN_STEP(step)
#endif
#ifndef MCUGEN_ROWS
#define MCUGEN_ROWS(step, output, first, rows, pointer)
#endif

/* Hides the value of x from the compiler, unless x is a constant that meets the condition `alike`. GCC 12 for Helium
 * miscompiles predicates of four lanes if it knows their values and these differ: a true lane makes the lanes after it
 * true. */
#if defined(__ARM_FEATURE_MVE) && !defined(MCUGEN_CHECK_TEXT)
#define MCUGEN_HIDE(x, alike)                         \
    do {                                              \
        if (!__builtin_constant_p(x) || !(alike)) {   \
            __asm__("" : "+r"(x));                    \
        }                                             \
    } while (0)
#else
#define MCUGEN_HIDE(x, alike) ((void)(x))
#endif

static inline int32_t mg_clamp(int32_t x, int32_t low, int32_t high)
{
    const int32_t floored = x < low ? low : x;
    return floored > high ? high : floored;
}

static inline float mg_clamp_float(float x, float low, float high)
{
    const float floored = x < low ? low : x;
    return floored > high ? high : floored;
}

/* -1 if x is negative, else 0. Compilers merge both shifts into one by 31. A comparison takes more instructions on
 * Cortex-M0+. */
static inline int32_t mg_sign(int32_t x)
{
    return (x >> 16) >> 15;
}

/* round(x * mult / 2^31), mult >= 0. Equals gemmlowp's SaturatingRoundingDoublingHighMul. */
static inline int32_t mg_high_mul(int32_t x, int32_t mult)
{
    return (int32_t)(((int64_t)x * mult + ((int64_t)1 << 30)) >> 31);
}

/* x / 2^n to nearest, halves away from zero, 0 <= n <= 31. Equals gemmlowp's RoundingDivideByPOT. */
static inline int32_t mg_divide_by_pot(int32_t x, uint32_t n)
{
    const uint32_t mask = ((uint32_t)1 << n) - 1u;
    const uint32_t threshold = (mask >> 1) + (uint32_t)(x < 0);
    return (x >> n) + (int32_t)(((uint32_t)x & mask) > threshold);
}

/* x * mult * 2^(shift - 31), rounded twice as gemmlowp does; shift > 0 is to the left and wraps.
 * A shift to the right by n is (r - (r < 0) + 2^(n - 1)) >> n. Its last bit is shifted separately, so that nothing
 * overflows. */
static inline int32_t mg_requantize(int32_t x, int32_t mult, int32_t shift)
{
    int32_t high;
    if (shift >= 0) {
        return mg_high_mul((int32_t)((uint32_t)x << (uint32_t)shift), mult);
    }
    high = mg_high_mul(x, mult);
    return (((high + mg_sign(high)) >> (uint32_t)(-1 - shift)) + 1) >> 1;
}

#endif /* MCUGEN_RUNTIME_H */
