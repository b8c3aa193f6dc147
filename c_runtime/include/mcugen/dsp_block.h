/* SPDX-License-Identifier: Apache-2.0
 *
 * What the blocked kernels for cores with SMLAD share: their job, the assembly of their parts, and how data are widened.
 *
 * A block is 3 or 2 pixels times all pairs of output channels: six sums in registers. Taps come in groups of four: 16
 * instructions for 24 products, or 18 where two channels' int8 weights share a halfword. dsp_block_template.h puts the
 * parts together.
 */
#ifndef MCUGEN_DSP_BLOCK_H
#define MCUGEN_DSP_BLOCK_H

#include "mcugen/dsp_requantize.h"
#include "mcugen/variant.h"

/* A function that is called from several places, and not worth a copy in each. */
#if defined(MCUGEN_CHECK_TEXT)
#define MG_DSP_ONCE
#else
#define MG_DSP_ONCE __attribute__((noinline))
#endif

/* What a block works on.
 * x       gathered taps that end at x_end; or a table of pointers to runs of taps, to each of which x_end is added
 * out     the first pixel's channels; pixels are out_c bytes apart
 * stream  whole pairs of channels, up to end */
typedef struct {
    const void *x;
    uintptr_t x_end;
    int8_t *out;
    uintptr_t out_c;
    const int32_t *end;
    const int32_t *stream;
} mg_dsp_job;

/* Assembly. Sums r4-r9, weights r0-r3, data r10-r11, pointer to data r12, to the stream lr. On the stack: pointers to the
 * runs, the last first; from mg_j on x, x_end or the runs left, out, out_c, end. Symbols: mg_p bytes from a pixel to the
 * next, mg_q from a group of four taps to the next, mg_x those before this group. */
#define MG_DSP_MULTIPLY(p, q)        \
    "smlad " p ", r10, r0, " p "\n"  \
    "smlad " q ", r10, r1, " q "\n"

#define MG_DSP_MULTIPLY_HIGH(p, q)   \
    "smlad " p ", r11, r2, " p "\n"  \
    "smlad " q ", r11, r3, " q "\n"

/* Both sums of a pixel to its bytes. Multipliers are in r0 and r1, addends in r2 and r3, shifts in r10 and r11. */
#define MG_DSP_FINISH_CLAMPED(p, q)             \
    MG_DSP_SCALE_CLAMPED(p, "r0", "r2", "r10")  \
    MG_DSP_SCALE_CLAMPED(q, "r1", "r3", "r11")

#define MG_DSP_FINISH_LINEAR(p, q)              \
    MG_DSP_SCALE(p, "r0", "r2", "r10", "r12")   \
    MG_DSP_SCALE(q, "r1", "r3", "r11", "r12")

#define MG_DSP_BYTES(p, q)       \
    "ssat " p ", #8, " p "\n"    \
    "ssat " q ", #8, " q "\n"    \
    "bfi " p ", " q ", #8, #8\n"

/* sum a and sum a + 256 sum b to both sums, doubled. */
#define MG_DSP_SPLIT(p, q)           \
    "sub " q ", " q ", " p "\n"      \
    "asr " q ", " q ", #7\n"         \
    "lsl " p ", " p ", #1\n"

#define MG_DSP_BEGIN                  \
    "push {r4-r11, lr}\n"             \
    "sub sp, sp, #mg_frame\n"         \
    "ldmia r0, {r4-r8, lr}\n"         \
    "add r9, sp, #mg_j\n"             \
    "stmia r9, {r4-r8}\n"             \
    ".if mg_segments\n"               \
    "add r6, sp, #4*mg_segments\n"    \
    ".rept mg_segments\n"             \
    "ldr r7, [r4], #4\n"              \
    "add r7, r7, r5\n"                \
    "str r7, [r6, #-4]!\n"            \
    ".endr\n.endif\n"                 \
    "1:\n"

/* out and out_c to r12 and r10. */
#define MG_DSP_OUT                                                      \
    ".if mg_j+8 <= 1020\n ldrd r12, r10, [sp, #mg_j+8]\n"               \
    ".else\n ldr r12, [sp, #mg_j+8]\n ldr r10, [sp, #mg_j+12]\n .endif\n"

#define MG_DSP_END                    \
    "str r12, [sp, #mg_j+8]\n"        \
    "ldr r10, [sp, #mg_j+16]\n"       \
    "cmp lr, r10\n"                   \
    "bne 1b\n"                        \
    "add sp, sp, #mg_frame\n"         \
    "pop {r4-r11, pc}\n"

/* A run of taps: `quad` for each group of four, then `two` for the two that may be left. */
#define MG_DSP_RUN(quad, two)         \
    ".set mg_x, 0\n"                  \
    ".rept mg_quads\n"                \
    quad                              \
    ".set mg_x, mg_x+mg_q\n.endr\n"   \
    ".if mg_pair\n" two ".endif\n"

/* Gathered taps, in one run or in a loop. */
#define MG_DSP_GATHERED(quad)         \
    ".if mg_segments == 0\n"          \
    "ldr r12, [sp, #mg_j]\n"          \
    "2:\n"                            \
    MG_DSP_RUN(quad, "")              \
    ".if mg_loop\n"                   \
    "ldr r10, [sp, #mg_j+4]\n"        \
    "add r12, r12, #mg_q*mg_quads\n"  \
    "cmp r12, r10\n"                  \
    "bne 2b\n"                        \
    ".endif\n.endif\n"

/* Runs at pointers, in a loop; no instruction of a run changes the flags. */
#define MG_DSP_LOOPED(quad, two)             \
    ".if mg_segments != 0 && mg_loop != 0\n" \
    "mov r10, #mg_segments\n"                \
    "str r10, [sp, #mg_j+4]\n"               \
    "3:\n"                                   \
    "ldr r10, [sp, #mg_j+4]\n"               \
    "subs r10, r10, #1\n"                    \
    "str r10, [sp, #mg_j+4]\n"               \
    "ldr r12, [sp, r10, lsl #2]\n"           \
    MG_DSP_RUN(quad, two)                    \
    "bne 3b\n"                               \
    ".endif\n"

/* Runs at pointers, one after the other. */
#define MG_DSP_UNROLLED(quad, two)           \
    ".if mg_segments != 0 && mg_loop == 0\n" \
    ".set mg_s, mg_segments\n"               \
    ".rept mg_segments\n"                    \
    ".set mg_s, mg_s-1\n"                    \
    "ldr r12, [sp, #4*mg_s]\n"               \
    MG_DSP_RUN(quad, two)                    \
    ".endr\n.endif\n"

/* The halves of a word. */
static inline int32_t mg_dsp_low(int32_t word)
{
    return (int16_t)(word & 0xFFFF);
}

static inline int32_t mg_dsp_high(int32_t word)
{
    return word >> 16;
}

#endif /* MCUGEN_DSP_BLOCK_H */
