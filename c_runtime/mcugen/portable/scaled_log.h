/* SPDX-License-Identifier: Apache-2.0
 *
 * The natural logarithm of an integer in units of 2^-16, times a scale, from a table of segments.
 */
#ifndef MCUGEN_SCALED_LOG_H
#define MCUGEN_SCALED_LOG_H

#include "mcugen/bits.h"

/* round(x * 45426 / 2^16), x < 2^21. ln(2) is 45426 / 2^16. */
static MCUGEN_INLINE uint32_t mg_times_ln2(uint32_t x)
{
#if defined(__ARM_FEATURE_DSP) && !defined(MCUGEN_CHECK_TEXT)
    uint32_t found;
    __asm__("smmulr %0, %1, %2" : "=r"(found) : "r"(x << 6), "r"(45426u << 10));
    return found;
#else
    return (x >> 16) * 45426u + (((x & 0xFFFFu) * 45426u + 32768u) >> 16);
#endif
}

/* round(ln(x) * scale / 2^shift), below 2^(32 - shift); 0 for x = 0.
 * bends: log2(1 + k / 128) - k / 128 for k = 0 .. 128, in units of 2^-16, between which the logarithm is a line. */
static MCUGEN_INLINE uint32_t mg_scaled_log(const uint16_t *bends, uint32_t x, uint32_t scale, uint32_t shift)
{
    if (x == 0u) {
        return 0u;
    }
    const uint32_t zeros = mg_zeros_above(x);
    const uint32_t part = (x << zeros << 1) >> 16;
    const uint16_t *const bend = bends + (part >> 9);
    const int32_t low = bend[0], high = bend[1];
    const int32_t between = ((high - low) * (int32_t)(part & 511u)) >> 16;
    const uint32_t binary = ((31u - zeros) << 16) + part + (uint32_t)(low + between);
    return (scale * mg_times_ln2(binary) + ((uint32_t)1 << shift >> 1)) >> shift;
}

#endif /* MCUGEN_SCALED_LOG_H */
