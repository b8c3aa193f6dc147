/* SPDX-License-Identifier: Apache-2.0
 *
 * int8 data widened to int16 for cores with SMLAD.
 */
#ifndef MCUGEN_DSP_WIDEN_H
#define MCUGEN_DSP_WIDEN_H

#include "mcugen/runtime.h"

#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)

/* r0 in, r1 out, r2 groups of four elements: `one` widens a group. */
#define MG_DSP_WIDEN(one)    \
    "push {r4, lr}\n"        \
    "subs r2, r2, #4\n"      \
    "blo 2f\n"               \
    "1:\n"                   \
    one one one one          \
    "subs r2, r2, #4\n"      \
    "bhs 1b\n"               \
    "2:\n"                   \
    "adds r2, r2, #4\n"      \
    "beq 4f\n"               \
    "3:\n"                   \
    one                      \
    "subs r2, r2, #1\n"      \
    "bne 3b\n"               \
    "4:\n"                   \
    "pop {r4, pc}\n"

#define MG_DSP_WIDEN_SWAPPED(step)   \
    "ldr r3, [r0], #4\n"             \
    "sxtb16 r4, r3\n"                \
    "sxtb16 r3, r3, ror #8\n"        \
    "strd r4, r3, [r1], #" step "\n"

#define MG_DSP_WIDEN_ORDERED         \
    "ldr r3, [r0], #4\n"             \
    "sxtb16 r4, r3\n"                \
    "sxtb16 r12, r3, ror #8\n"       \
    "pkhbt r3, r4, r12, lsl #16\n"   \
    "pkhtb r4, r12, r4, asr #16\n"   \
    "strd r3, r4, [r1], #8\n"

/* Groups of four elements in the order 0, 2, 1, 3; `out` must be aligned to words. */
__attribute__((naked, noinline)) MCUGEN_UNUSED static void mg_dsp_widen_swapped(
    const int8_t *in MCUGEN_UNUSED, mg_s16 *out MCUGEN_UNUSED, uint32_t groups MCUGEN_UNUSED)
{
    __asm__(MG_DSP_WIDEN(MG_DSP_WIDEN_SWAPPED("8")));
}

/* The same, each group three groups after the one before. */
__attribute__((naked, noinline)) MCUGEN_UNUSED static void mg_dsp_widen_apart(
    const int8_t *in MCUGEN_UNUSED, mg_s16 *out MCUGEN_UNUSED, uint32_t groups MCUGEN_UNUSED)
{
    __asm__(MG_DSP_WIDEN(MG_DSP_WIDEN_SWAPPED("24")));
}

/* Groups of four elements in their own order; `out` must be aligned to words. */
__attribute__((naked, noinline)) MCUGEN_UNUSED static void mg_dsp_widen_ordered(
    const int8_t *in MCUGEN_UNUSED, mg_s16 *out MCUGEN_UNUSED, uint32_t groups MCUGEN_UNUSED)
{
    __asm__(MG_DSP_WIDEN(MG_DSP_WIDEN_ORDERED));
}

#else

static inline void mg_dsp_widen_groups(const int8_t *in, mg_s16 *out, uint32_t groups, uint32_t apart, uint32_t swapped)
{
    for (uint32_t i = 0u; i < groups; i += 1u) {
        for (uint32_t k = 0u; k < 4u; k += 1u) {
            const uint32_t from = swapped != 0u ? (k & 1u) * 2u + (k >> 1) : k;
            out[i * 4u * apart + k] = in[i * 4u + from];
        }
    }
}

static inline void mg_dsp_widen_swapped(const int8_t *in, mg_s16 *out, uint32_t groups)
{
    mg_dsp_widen_groups(in, out, groups, 1u, 1u);
}

static inline void mg_dsp_widen_apart(const int8_t *in, mg_s16 *out, uint32_t groups)
{
    mg_dsp_widen_groups(in, out, groups, 3u, 1u);
}

static inline void mg_dsp_widen_ordered(const int8_t *in, mg_s16 *out, uint32_t groups)
{
    mg_dsp_widen_groups(in, out, groups, 1u, 0u);
}

#endif

/* n elements in their own order, to anywhere. */
static inline void mg_dsp_widen_each(const int8_t *in, mg_s16 *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        out[i] = in[i];
    }
}

static inline void mg_dsp_fill(mg_s16 *out, int32_t value, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        out[i] = (int16_t)value;
    }
}

#endif /* MCUGEN_DSP_WIDEN_H */
