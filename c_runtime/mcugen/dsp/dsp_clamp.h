/* SPDX-License-Identifier: Apache-2.0
 *
 * Clamps int8 outputs in place, four at a time, to ranges narrower than int8.
 */
#ifndef MCUGEN_DSP_CLAMP_H
#define MCUGEN_DSP_CLAMP_H

#include "mcugen/runtime.h"

#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)

/* Clamps words of four bytes. low, high: the bounds, repeated in all four bytes. */
__attribute__((naked, noinline)) MCUGEN_UNUSED static void mg_dsp_clamp_words(
    int8_t *out MCUGEN_UNUSED, uint32_t low MCUGEN_UNUSED, uint32_t high MCUGEN_UNUSED, uint32_t words MCUGEN_UNUSED)
{
    __asm__("push {r4, lr}\n"
            "1:\n"
            "ldr r12, [r0]\n"
            "ssub8 r4, r12, r1\n"
            "sel r12, r12, r1\n"
            "ssub8 r4, r2, r12\n"
            "sel r12, r12, r2\n"
            "str r12, [r0], #4\n"
            "subs r3, r3, #1\n"
            "bne 1b\n"
            "pop {r4, pc}\n");
}

#else

static inline void mg_dsp_clamp_words(int8_t *out, uint32_t low, uint32_t high, uint32_t words)
{
    for (uint32_t i = 0u; i < 4u * words; i += 1u) {
        out[i] = (int8_t)mg_clamp(out[i], (int8_t)(low & 0xFFu), (int8_t)(high & 0xFFu));
    }
}

#endif

/* Clamps n outputs. If n is not a multiple of 4, the last word overlaps the one before it. */
static inline void mg_dsp_clamp(int8_t *out, int32_t low, int32_t high, uint32_t n)
{
    const uint32_t lows = (uint32_t)(low & 0xFF) * 0x01010101u, highs = (uint32_t)(high & 0xFF) * 0x01010101u;
    if (n < 4u) {
        for (uint32_t i = 0u; i < n; i += 1u) {
            out[i] = (int8_t)mg_clamp(out[i], low, high);
        }
        return;
    }
    mg_dsp_clamp_words(out, lows, highs, n / 4u);
    if ((n & 3u) != 0u) {
        mg_dsp_clamp_words(out + n - 4u, lows, highs, 1u);
    }
}

#endif /* MCUGEN_DSP_CLAMP_H */
