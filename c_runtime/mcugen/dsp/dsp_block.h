/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the blocked kernels for cores with SMLAD: the arguments of a block and the assembly of its parts.
 *
 * A block is 3 or 2 pixels times all pairs of output channels: six sums in registers. Words of two taps each are read
 * from rows, or from gathered taps. dsp_block_template.h combines the parts.
 */
#ifndef MCUGEN_DSP_BLOCK_H
#define MCUGEN_DSP_BLOCK_H

#include "mcugen/dsp_requantize.h"
#include "mcugen/variant.h"

/* A function that is called from several places and too large to be inlined in each. */
#if defined(MCUGEN_CHECK_TEXT)
#define MG_DSP_ONCE
#else
#define MG_DSP_ONCE __attribute__((noinline))
#endif

/* Arguments of a block, or of several that follow each other in a row.
 * x       gathered taps, up to x_end; or a table of pointers to runs of taps, to each of which x_end is added
 * out     channels of the first pixel; pixels are out_c bytes apart
 * stream  whole pairs of channels, up to end
 * blocks  how many; 1 of gathered taps */
typedef struct {
    const void *x;
    const int32_t *end;
    uintptr_t x_end;
    int8_t *out;
    uintptr_t out_c;
    const int32_t *stream;
    uint32_t blocks;
} mg_dsp_job;

/* Assembly. Sums r4-r9, pointer to data r12, to the stream lr; weights and data in what is left. On the stack: pointers
 * to the runs, the last first, or x; end; from mg_j on x_end or the runs left, out, out_c, stream, blocks left.
 * Symbols: mg_t the first pointer's place, mg_p bytes from a pixel to the next, mg_q from a word to the next, mg_x and
 * mg_w those before this group of data and weights. */
#define MG_DSP_SMLAD(sum, x, w) "smlad " sum ", " x ", " w ", " sum "\n"

/* The first product of a sum adds the bias to it; only the sums of the last pixel hold the bias. */
#define MG_DSP_FIRST(sum, x, w, bias)                \
    ".if mg_first\n"                                 \
    "smlad " sum ", " x ", " w ", " bias "\n"        \
    ".else\n" MG_DSP_SMLAD(sum, x, w) ".endif\n"

#define MG_DSP_NEXT ".set mg_first, 0\n"

#define MG_DSP_MULTIPLY(p, q, r, s) MG_DSP_FIRST(p, "r10", "r0", r) MG_DSP_FIRST(q, "r10", "r1", s)
#define MG_DSP_MULTIPLY_HIGH(p, q) MG_DSP_SMLAD(p, "r11", "r2") MG_DSP_SMLAD(q, "r11", "r3")

/* Converts both sums of a pixel to bytes. Multipliers are in r0 and r1, addends in r2 and r3, shifts in r10 and r11. */
#define MG_DSP_FINISH_CLAMPED(p, q)             \
    MG_DSP_SCALE_CLAMPED(p, "r0", "r2", "r10")  \
    MG_DSP_SCALE_CLAMPED(q, "r1", "r3", "r11")

#define MG_DSP_FINISH_LINEAR(p, q)              \
    MG_DSP_SCALE(p, "r0", "r2", "r10", "r12")   \
    MG_DSP_SCALE(q, "r1", "r3", "r11", "r12")

#define MG_DSP_FINISH_ONCE(p, q)             \
    MG_DSP_SCALE_ONCE(p, "r0", "r2", "r10")  \
    MG_DSP_SCALE_ONCE(q, "r1", "r3", "r11")

#define MG_DSP_FINISH_FLOAT(p, q)       \
    MG_DSP_SCALE_FLOAT(p, "r0", "r2")   \
    MG_DSP_SCALE_FLOAT(q, "r1", "r3")

/* To bytes at once: both are shifted by n, the text of a number. */
#define MG_DSP_FINISH_ALIKE(p, q, n)        \
    MG_DSP_SCALE_ALIKE(p, "r0", "r2", n)    \
    MG_DSP_SCALE_ALIKE(q, "r1", "r3", n)    \
    MG_DSP_PAIR(p, q)

#define MG_DSP_BYTES(p, q)       \
    "ssat " p ", #8, " p "\n"    \
    "ssat " q ", #8, " q "\n"    \
    MG_DSP_PAIR(p, q)

#define MG_DSP_PAIR(p, q) "bfi " p ", " q ", #8, #8\n"

/* Splits sum a and sum a + 256 sum b into both sums, doubled. */
#define MG_DSP_SPLIT(p, q)           \
    "sub " q ", " q ", " p "\n"      \
    "asr " q ", " q ", #7\n"         \
    "lsl " p ", " p ", #1\n"

/* Splits 16 times sum a, and sum a + 16 sum b, into both sums, doubled. */
#define MG_DSP_SPLIT_NIBBLES(p, q)         \
    "sub " q ", " q ", " p ", asr #4\n"    \
    "asr " q ", " q ", #3\n"               \
    "asr " p ", " p ", #3\n"

/* The lower half of each byte, 16-fold. */
#define MG_DSP_LOWER(to, from) "lsl " to ", " from ", #4\nand " to ", " to ", #0xF0F0F0F0\n"

/* Splits the sums and converts them to bytes: sum b stays 256-fold, its addend and shift have seven bits more. */
#define MG_DSP_FINISH_SPLIT(p, q)                         \
    "sub " q ", " q ", " p "\n"                           \
    "lsl " p ", " p ", #1\n"                              \
    MG_DSP_SCALE_CLAMPED(p, "r0", "r2", "r10")            \
    MG_DSP_SCALE_WIDE(q, "r1", "r3", "r11")

#define MG_DSP_FINISH_SPLIT_ONCE(p, q)                    \
    "sub " q ", " q ", " p "\n"                           \
    "lsl " p ", " p ", #1\n"                              \
    MG_DSP_SCALE_ONCE(p, "r0", "r2", "r10")               \
    MG_DSP_SCALE_WIDE(q, "r1", "r3", "r11")

#define MG_DSP_BEGIN                                       \
    "push {r4-r11, lr}\n"                                  \
    "sub sp, sp, #mg_frame\n"                              \
    "ldmia r0, {r4-r10}\n"                                 \
    "add r3, sp, #mg_j\n"                                  \
    "stmia r3, {r6-r10}\n"                                 \
    ".if mg_segments\n"                                    \
    "add r3, sp, #4*mg_segments\n"                         \
    "str r5, [r3]\n"                                       \
    ".rept mg_segments\n"                                  \
    "ldr r2, [r4], #4\n"                                   \
    "add r2, r2, r6\n"                                     \
    "str r2, [r3, #-4]!\n"                                 \
    ".endr\n"                                              \
    ".else\n strd r4, r5, [sp]\n .endif\n"                 \
    "mov lr, r9\n"                                         \
    "ldr r12, [sp, #mg_t]\n"                               \
    "1:\n"

/* Loads two neighbouring words of the stack. */
#define MG_DSP_TWO(a, b, at)                                            \
    ".if " at " <= 1020\n ldrd " a ", " b ", [sp, #" at "]\n"           \
    ".else\n ldr " a ", [sp, #" at "]\n ldr " b ", [sp, #" at "+4]\n .endif\n"

/* out and out_c */
#define MG_DSP_OUT MG_DSP_TWO("r12", "r10", "mg_j+4")

/* Moves the pointers to the runs on, the first of them in r12, by `step`, an immediate number. */
#define MG_DSP_MOVE(step)                                                                            \
    ".if mg_segments == 1\n add r12, r12, " step "\n str r12, [sp]\n"                               \
    ".elseif mg_segments < 12\n"                                                                     \
    ".irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10\n"                                                        \
    ".if mg_segments-1 == \\n\n ldmia sp, {r0-r\\n}\n .endif\n.endr\n"               \
    ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10\n"                                                     \
    ".if mg_segments > \\n\n add r\\n, r\\n, " step "\n .endif\n.endr\n"                            \
    ".irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10\n"                                                        \
    ".if mg_segments-1 == \\n\n stmia sp, {r0-r\\n}\n mov r12, r\\n\n .endif\n.endr\n"              \
    ".else\n"                                                                                       \
    ".set mg_s, 0\n"                                                                                 \
    ".rept mg_segments\n"                                                                            \
    "ldr r12, [sp, #4*mg_s]\nadd r12, r12, " step "\nstr r12, [sp, #4*mg_s]\n"                       \
    ".set mg_s, mg_s+1\n.endr\n.endif\n"

/* The next pair of channels, or the first one of the next `pixels` (the text of a number) of the row. */
#define MG_DSP_END(pixels)                                 \
    "str r12, [sp, #mg_j+4]\n"                             \
    MG_DSP_TWO("r12", "r10", "mg_t")                                    \
    "cmp lr, r10\n"                                        \
    "bne 1b\n"                                             \
    ".if mg_segments\n"                                    \
    "ldr r0, [sp, #mg_j+16]\n"                             \
    "subs r0, r0, #1\n"                                    \
    "beq 4f\n"                                             \
    "str r0, [sp, #mg_j+16]\n"                             \
    MG_DSP_TWO("r0", "r1", "mg_j+4")                       \
    ".rept " pixels "-1\n add r0, r0, r1\n .endr\n"        \
    "str r0, [sp, #mg_j+4]\n"                              \
    MG_DSP_MOVE("#" pixels "*mg_p")                        \
    "ldr lr, [sp, #mg_j+12]\n"                             \
    "b 1b\n"                                               \
    "4:\n"                                                 \
    ".endif\n"                                             \
    "add sp, sp, #mg_frame\n"                              \
    "pop {r4-r11, pc}\n"

/* A run of neighbouring taps: `quad` for each group of four, then `two` if two are left. */
#define MG_DSP_QUADS(quad, two)       \
    ".set mg_x, 0\n"                  \
    ".rept mg_quads\n"                \
    quad MG_DSP_NEXT                  \
    ".set mg_x, mg_x+2*mg_q\n.endr\n" \
    ".if mg_pair\n" two MG_DSP_NEXT ".endif\n"

/* A run of gathered words, three at a time. */
#define MG_DSP_WORDS(three, two, one)                      \
    ".set mg_words, 2*mg_quads+mg_pair\n"                  \
    ".rept mg_words/3\n" three ".endr\n"                   \
    ".set mg_left, mg_words-mg_words/3*3\n"                \
    ".if mg_left == 2\n" two ".endif\n"                    \
    ".if mg_left == 1\n" one ".endif\n"

/* A run with single loads, each beside a product and well before its use: `head` loads the operands of the first
 * products, `even` and `odd` compute a word each. mg_odd: a word follows the even one; mg_more: one follows the odd
 * one. */
#define MG_DSP_SINGLE(head, even, odd)                              \
    ".set mg_x, 0\n.set mg_w, 8*mg_first\n.set mg_left, mg_quads\n" \
    head                                                            \
    ".rept mg_quads\n"                                              \
    ".set mg_left, mg_left-1\n"                                     \
    ".set mg_odd, 1\n.set mg_more, mg_left+mg_pair\n"               \
    even MG_DSP_NEXT odd                                            \
    ".set mg_x, mg_x+2*mg_q\n.set mg_w, mg_w+mg_v\n.endr\n"         \
    ".if mg_pair\n.set mg_odd, 0\n" even MG_DSP_NEXT                \
    ".set mg_w, mg_w+mg_v/2\n.endif\n"                              \
    "add lr, lr, #mg_w\n"

/* Gathered taps: `lead`, then a run, or a loop; `next` moves the pointer to data, where the run does not. */
#define MG_DSP_GATHERED(lead, run, next)    \
    ".if mg_segments == 0\n"          \
    lead                              \
    "2:\n"                            \
    run                               \
    ".if mg_loop\n"                   \
    next                              \
    "ldr r10, [sp, #mg_j]\n"          \
    "cmp r12, r10\n"                  \
    "bne 2b\n"                        \
    ".endif\n.endif\n"

/* Runs at pointers, in a loop; no instruction of a run changes the flags. */
#define MG_DSP_LOOPED(run)                   \
    ".if mg_segments != 0 && mg_loop != 0\n" \
    "mov r10, #mg_segments\n"                \
    "str r10, [sp, #mg_j]\n"                 \
    "3:\n"                                   \
    "ldr r10, [sp, #mg_j]\n"                 \
    "subs r10, r10, #1\n"                    \
    "str r10, [sp, #mg_j]\n"                 \
    "ldr r12, [sp, r10, lsl #2]\n"           \
    run                                      \
    "bne 3b\n"                               \
    ".endif\n"

/* Runs at pointers, one after the other. */
#define MG_DSP_UNROLLED(run)                 \
    ".if mg_segments != 0 && mg_loop == 0\n" \
    ".set mg_s, mg_segments\n"               \
    ".rept mg_segments\n"                    \
    ".set mg_s, mg_s-1\n"                    \
    ".if mg_s < mg_segments-1\n ldr r12, [sp, #4*mg_s]\n .endif\n" \
    run                                      \
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

/* A byte of a word, from bit `shift` on, and the lower half of such a byte. */
static inline int32_t mg_dsp_byte(int32_t word, uint32_t shift)
{
    return (int8_t)((word >> shift) & 0xFF);
}

static inline int32_t mg_dsp_lower(int32_t byte)
{
    return ((byte & 15) ^ 8) - 8;
}

#endif /* MCUGEN_DSP_BLOCK_H */
