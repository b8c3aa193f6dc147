/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversion of int8 data to int16 for cores with SMLAD.
 */
#ifndef MCUGEN_DSP_WIDEN_H
#define MCUGEN_DSP_WIDEN_H

#include "mcugen/runtime.h"

/* Arguments of mg_dsp_gather_rows: a run of taps of each row, up to row pointer `end`, for three pixels.
 * groups  groups of four taps in a run, at least one
 * third   bytes from the first pixel's taps to the third's
 * skip    bytes from the end of a row's output to the next row's output */
typedef struct {
    uint32_t groups, third, skip;
    const mg_s16 *const *end;
} mg_dsp_runs;

#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)

/* Widens groups of four elements. widen(a, b): widens the four bytes in a to the words a and b.
 * r0: in, r1: out, r2: groups left, r3-r10: data */
#define MG_DSP_WIDEN(widen)                                                                    \
    "push {r4-r10, lr}\n"                                                                      \
    "subs r2, r2, #4\n"                                                                        \
    "blo 2f\n"                                                                                 \
    "1:\n"                                                                                     \
    "ldr r5, [r0, #4]\nldr r7, [r0, #8]\nldr r9, [r0, #12]\nldr r3, [r0], #16\n"               \
    widen("r3", "r4") widen("r5", "r6") widen("r7", "r8") widen("r9", "r10")                   \
    "stmia r1!, {r3-r10}\n"                                                                    \
    "subs r2, r2, #4\n"                                                                        \
    "bhs 1b\n"                                                                                 \
    "2:\n"                                                                                     \
    "adds r2, r2, #4\n"                                                                        \
    "beq 4f\n"                                                                                 \
    "3:\n"                                                                                     \
    "ldr r3, [r0], #4\n"                                                                       \
    widen("r3", "r4")                                                                          \
    "strd r3, r4, [r1], #8\n"                                                                  \
    "subs r2, r2, #1\n"                                                                        \
    "bne 3b\n"                                                                                 \
    "4:\n"                                                                                     \
    "pop {r4-r10, pc}\n"

#define MG_DSP_WIDEN_SWAPPED(first, second)           \
    "sxtb16 " second ", " first ", ror #8\n"          \
    "sxtb16 " first ", " first "\n"

#define MG_DSP_WIDEN_ORDERED(first, second)                 \
    "sxtb16 " second ", " first "\n"                        \
    "sxtb16 r12, " first ", ror #8\n"                       \
    "pkhbt " first ", " second ", r12, lsl #16\n"           \
    "pkhtb " second ", r12, " second ", asr #16\n"

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

/* Widens a group of each of three pixels to six words. */
#define MG_DSP_GATHER                                                                     \
    "ldr r7, [r0], #4\nldr r8, [r1], #4\nldr r9, [r2], #4\n"                              \
    "sxtb16 r4, r7\nsxtb16 r5, r8\nsxtb16 r6, r9\n"                                       \
    "sxtb16 r7, r7, ror #8\nsxtb16 r8, r8, ror #8\nsxtb16 r9, r9, ror #8\n"               \
    "stmia r3!, {r4-r9}\n"

/* Widens three pixels and interleaves them: two elements of a, two of b, two of c, and so on. Groups of four elements
 * are in the order 0, 2, 1, 3. */
__attribute__((naked, noinline)) MCUGEN_UNUSED static void mg_dsp_gather_bytes(
    const int8_t *a MCUGEN_UNUSED, const int8_t *b MCUGEN_UNUSED, const int8_t *c MCUGEN_UNUSED,
    mg_s16 *out MCUGEN_UNUSED, uint32_t groups MCUGEN_UNUSED)
{
    __asm__("push {r4-r9}\n"
            "ldr r12, [sp, #24]\n"
            "subs r12, r12, #2\n"
            "blo 2f\n"
            "1:\n" MG_DSP_GATHER MG_DSP_GATHER
            "subs r12, r12, #2\n"
            "bhs 1b\n"
            "2:\n"
            "adds r12, r12, #2\n"
            "beq 3f\n" MG_DSP_GATHER
            "3:\n"
            "pop {r4-r9}\n"
            "bx lr\n");
}

/* Interleaves three pixels that are int16 already; elements stay in their own order. at: bytes from the start of a row
 * to the first pixel's run; second: bytes from the first pixel's run to the second pixel's.
 * r0: rows, r1: at, r2: out, r3: second, r4-r9: data, lr, r10, r11: the three pixels, r12: groups left */
__attribute__((naked, noinline)) MCUGEN_UNUSED static void mg_dsp_gather_rows(
    const mg_s16 *const *rows MCUGEN_UNUSED, uint32_t at MCUGEN_UNUSED, mg_s16 *out MCUGEN_UNUSED,
    uint32_t second MCUGEN_UNUSED, const mg_dsp_runs *runs MCUGEN_UNUSED)
{
    __asm__("ldr r12, [sp]\n"
            "push {r4-r11, lr}\n"
            "ldmia r12, {r4-r7}\n"
            "push {r4-r7}\n"
            "1:\n"
            "ldr lr, [r0], #4\n"
            "ldrd r12, r4, [sp]\n"
            "add lr, lr, r1\n"
            "add r10, lr, r3\n"
            "add r11, lr, r4\n"
            "2:\n"
            "ldrd r4, r7, [lr], #8\n"
            "ldrd r5, r8, [r10], #8\n"
            "ldrd r6, r9, [r11], #8\n"
            "subs r12, r12, #1\n"
            "stmia r2!, {r4-r9}\n"
            "bne 2b\n"
            "ldrd r4, r5, [sp, #8]\n"
            "add r2, r2, r4\n"
            "cmp r0, r5\n"
            "bne 1b\n"
            "add sp, sp, #16\n"
            "pop {r4-r11, pc}\n");
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

static inline void mg_dsp_gather_rows(const mg_s16 *const *rows, uint32_t at, mg_s16 *out, uint32_t second,
                                      const mg_dsp_runs *runs)
{
    const uint32_t from[3] = {at / 2u, (at + second) / 2u, (at + runs->third) / 2u};
    for (const mg_s16 *const *row = rows; row < runs->end; row += 1) {
        for (uint32_t i = 0u; i < 12u * runs->groups; i += 1u) {
            out[i] = (*row)[from[i / 2u % 3u] + i / 6u * 2u + (i & 1u)];
        }
        out += 12u * runs->groups + runs->skip / 2u;
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
