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

#define MG_DSP_WIDEN_SWAPPED       \
    "ldr r3, [r0], #4\n"           \
    "sxtb16 r4, r3\n"              \
    "sxtb16 r3, r3, ror #8\n"      \
    "strd r4, r3, [r1], #8\n"

#define MG_DSP_WIDEN_ORDERED         \
    "ldr r3, [r0], #4\n"             \
    "sxtb16 r4, r3\n"                \
    "sxtb16 r12, r3, ror #8\n"       \
    "pkhbt r3, r4, r12, lsl #16\n"   \
    "pkhtb r4, r12, r4, asr #16\n"   \
    "strd r3, r4, [r1], #8\n"

/* Widens groups of four elements, in the order 0, 2, 1, 3; `out` must be aligned to words. */
__attribute__((naked, noinline)) MCUGEN_UNUSED static void mg_dsp_widen_swapped(
    const int8_t *in MCUGEN_UNUSED, mg_s16 *out MCUGEN_UNUSED, uint32_t groups MCUGEN_UNUSED)
{
    __asm__(MG_DSP_WIDEN(MG_DSP_WIDEN_SWAPPED));
}

/* Widens groups of four elements in their own order; `out` must be aligned to words. */
__attribute__((naked, noinline)) MCUGEN_UNUSED static void mg_dsp_widen_ordered(
    const int8_t *in MCUGEN_UNUSED, mg_s16 *out MCUGEN_UNUSED, uint32_t groups MCUGEN_UNUSED)
{
    __asm__(MG_DSP_WIDEN(MG_DSP_WIDEN_ORDERED));
}

/* r0-r2 in, r3 out; groups of four elements of each, on the stack: `load` gets the words of one to r4-r9, which are
 * stored in this order. */
#define MG_DSP_GATHER(load)    \
    "push {r4-r9}\n"           \
    "ldr r12, [sp, #24]\n"     \
    "subs r12, r12, #2\n"      \
    "blo 2f\n"                 \
    "1:\n"                     \
    load                       \
    "stmia r3!, {r4-r9}\n"     \
    load                       \
    "stmia r3!, {r4-r9}\n"     \
    "subs r12, r12, #2\n"      \
    "bhs 1b\n"                 \
    "2:\n"                     \
    "adds r12, r12, #2\n"      \
    "beq 3f\n"                 \
    load                       \
    "stmia r3!, {r4-r9}\n"     \
    "3:\n"                     \
    "pop {r4-r9}\n"            \
    "bx lr\n"

/* Interleaves words of two elements of a, b and c: groups of four elements in the order 0, 2, 1, 3. */
__attribute__((naked, noinline)) MCUGEN_UNUSED static void mg_dsp_gather_bytes(
    const int8_t *a MCUGEN_UNUSED, const int8_t *b MCUGEN_UNUSED, const int8_t *c MCUGEN_UNUSED,
    mg_s16 *out MCUGEN_UNUSED, uint32_t groups MCUGEN_UNUSED)
{
    __asm__(MG_DSP_GATHER(
        "ldr r7, [r0], #4\nldr r8, [r1], #4\nldr r9, [r2], #4\n"
        "sxtb16 r4, r7\nsxtb16 r5, r8\nsxtb16 r6, r9\n"
        "sxtb16 r7, r7, ror #8\nsxtb16 r8, r8, ror #8\nsxtb16 r9, r9, ror #8\n"));
}

/* Interleaves elements that are int16 already, in their own order. */
__attribute__((naked, noinline)) MCUGEN_UNUSED static void mg_dsp_gather_words(
    const mg_s16 *a MCUGEN_UNUSED, const mg_s16 *b MCUGEN_UNUSED, const mg_s16 *c MCUGEN_UNUSED,
    mg_s16 *out MCUGEN_UNUSED, uint32_t groups MCUGEN_UNUSED)
{
    __asm__(MG_DSP_GATHER("ldrd r4, r7, [r0], #8\nldrd r5, r8, [r1], #8\nldrd r6, r9, [r2], #8\n"));
}

#else

static inline void mg_dsp_widen_groups(const int8_t *in, mg_s16 *out, uint32_t groups, uint32_t swapped)
{
    for (uint32_t i = 0u; i < 4u * groups; i += 1u) {
        const uint32_t k = i & 3u;
        out[i] = in[swapped != 0u ? (i & ~3u) + (k & 1u) * 2u + (k >> 1) : i];
    }
}

static inline void mg_dsp_widen_swapped(const int8_t *in, mg_s16 *out, uint32_t groups)
{
    mg_dsp_widen_groups(in, out, groups, 1u);
}

static inline void mg_dsp_widen_ordered(const int8_t *in, mg_s16 *out, uint32_t groups)
{
    mg_dsp_widen_groups(in, out, groups, 0u);
}

static inline void mg_dsp_gather_bytes(const int8_t *a, const int8_t *b, const int8_t *c, mg_s16 *out, uint32_t groups)
{
    const int8_t *const from[3] = {a, b, c};
    for (uint32_t i = 0u; i < 12u * groups; i += 1u) {
        const uint32_t word = i / 6u, k = i & 1u;
        out[i] = from[i / 2u % 3u][word / 2u * 4u + 2u * k + (word & 1u)];
    }
}

static inline void mg_dsp_gather_words(const mg_s16 *a, const mg_s16 *b, const mg_s16 *c, mg_s16 *out, uint32_t groups)
{
    const mg_s16 *const from[3] = {a, b, c};
    for (uint32_t i = 0u; i < 12u * groups; i += 1u) {
        out[i] = from[i / 2u % 3u][i / 6u * 2u + (i & 1u)];
    }
}

#endif

/* Widens n elements in their own order; `out` needs no alignment. */
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
