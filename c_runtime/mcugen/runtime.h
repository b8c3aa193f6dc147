/* SPDX-License-Identifier: Apache-2.0
 *
 * What every generated model and kernel relies on: types that may alias the arena, hooks, fixed-point arithmetic.
 *
 * Right shifts of negative numbers are arithmetic, as on every compiler that targets these cores.
 */
#ifndef MCUGEN_RUNTIME_H
#define MCUGEN_RUNTIME_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MCUGEN_RUNTIME_ABI 1

#if defined(MCUGEN_CHECK_TEXT)
#define MCUGEN_ALIGNED(n)
#define MCUGEN_SECTION(name)
#define MCUGEN_MAY_ALIAS
#define MCUGEN_UNUSED
#define MCUGEN_INLINE inline
#elif defined(__GNUC__) || defined(__clang__)
#define MCUGEN_ALIGNED(n) __attribute__((aligned(n)))
#define MCUGEN_SECTION(name) __attribute__((section(name)))
#define MCUGEN_MAY_ALIAS __attribute__((may_alias))
#define MCUGEN_UNUSED __attribute__((unused))
#define MCUGEN_INLINE inline __attribute__((always_inline))
#else
#error "mcugen needs a compiler with GNU attributes: gcc or clang (armclang and current IAR understand them too)"
#endif

/* An array of negative size where the condition is false: works in C99, C11 and C++. */
#define MCUGEN_JOIN_(a, b) a##b
#define MCUGEN_JOIN(a, b) MCUGEN_JOIN_(a, b)
#define MCUGEN_STATIC_ASSERT(condition) \
    typedef char MCUGEN_JOIN(mcugen_assert_, __LINE__)[(condition) ? 1 : -1] MCUGEN_UNUSED

/* The arena is bytes: wider elements are reached through types that may alias it. */
typedef int16_t MCUGEN_MAY_ALIAS mg_s16;
typedef int32_t MCUGEN_MAY_ALIAS mg_s32;
typedef int64_t MCUGEN_MAY_ALIAS mg_s64;
typedef float MCUGEN_MAY_ALIAS mg_f32;

/* Hooks, empty unless defined on the command line or in a header given by -include.
 * MCUGEN_STEP(i) stands before step i runs.
 * MCUGEN_ROWS(step, output, first, rows, pointer) stands after rows [first, first + rows) of an output are written. */
#ifndef MCUGEN_STEP
#define MCUGEN_STEP(step)
#endif
#ifndef MCUGEN_ROWS
#define MCUGEN_ROWS(step, output, first, rows, pointer)
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
 * To the right by n it is (r - (r < 0) + 2^(n - 1)) >> n, with the last bit shifted apart so that nothing overflows. */
static inline int32_t mg_requantize(int32_t x, int32_t mult, int32_t shift)
{
    int32_t high;
    if (shift >= 0) {
        return mg_high_mul((int32_t)((uint32_t)x << (uint32_t)shift), mult);
    }
    high = mg_high_mul(x, mult);
    return (((high + (high >> 31)) >> (uint32_t)(-1 - shift)) + 1) >> 1;
}

#endif /* MCUGEN_RUNTIME_H */
