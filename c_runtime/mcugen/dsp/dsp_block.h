/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the blocked kernels for cores with SMLAD: the arguments of a block and the assembly of its parts.
 *
 * A block is 3 or 2 pixels times all pairs of output channels; the sums of a pair of channels are in registers. Data
 * are words of two taps, read from rows in place or from gathered taps. dsp_block_template.h combines the parts.
 */
#ifndef MCUGEN_DSP_BLOCK_H
#define MCUGEN_DSP_BLOCK_H

#include "mcugen/dsp_requantize.h"
#include "mcugen/variant.h"

/* Marks a function that is called from several places and too large to be inlined. */
#if defined(MCUGEN_CHECK_TEXT)
#define MG_DSP_ONCE
#else
#define MG_DSP_ONCE __attribute__((noinline))
#endif

/* Arguments of a block, or of consecutive blocks of a row.
 * x, x_end  gathered taps: their start and end; taps in rows: table of pointers to runs (contiguous taps), and the
 *           bytes to add to each pointer
 * out       channels of the first pixel; out_c: bytes from a pixel to the next
 * stream    constants of whole pairs of channels, up to `end`
 * blocks    number of blocks; 1 for gathered taps */
typedef struct {
    const void *x;
    const int32_t *end;
    uintptr_t x_end;
    int8_t *out;
    uintptr_t out_c;
    const int32_t *stream;
    uint32_t blocks;
} mg_dsp_job;

/* Assembly.
 * r4-r9: sums, r12: data pointer, lr: stream, other registers: weights and data
 * Stack, offset from sp:
 *   0          pointers to the runs, the last run first (gathered taps: x); then `end`
 *   mg_j       gathered taps: x_end; else number of runs left
 *   mg_j + 4   out, out_c, stream, blocks left
 * Assembler symbols:
 *   mg_t  stack offset of the first run's pointer
 *   mg_p  bytes from a pixel to the next
 *   mg_q  bytes from a word of data to the next
 *   mg_x  bytes of data before the current group
 *   mg_w  bytes of weights before the current group */
#define MG_DSP_SMLAD(sum, x, w) "smlad " sum ", " x ", " w ", " sum "\n"

/* The first product of each sum adds the bias. The biases are in the registers of the last pixel's sums. */
#define MG_DSP_FIRST(sum, x, w, bias)                \
    ".if mg_first\n"                                 \
    "smlad " sum ", " x ", " w ", " bias "\n"        \
    ".else\n" MG_DSP_SMLAD(sum, x, w) ".endif\n"

#define MG_DSP_NEXT ".set mg_first, 0\n"

#define MG_DSP_MULTIPLY(p, q, r, s) MG_DSP_FIRST(p, "r10", "r0", r) MG_DSP_FIRST(q, "r10", "r1", s)
#define MG_DSP_MULTIPLY_HIGH(p, q) MG_DSP_SMLAD(p, "r11", "r2") MG_DSP_SMLAD(q, "r11", "r3")

/* Scales both sums of a pixel. r0, r1: multipliers, r2, r3: addends, r10, r11: shifts */
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

/* Scales, saturates and packs both sums. n: the shift of both, a number as text. */
#define MG_DSP_FINISH_ALIKE(p, q, n)        \
    MG_DSP_SCALE_ALIKE(p, "r0", "r2", n)    \
    MG_DSP_SCALE_ALIKE(q, "r1", "r3", n)    \
    MG_DSP_PAIR(p, q)

#define MG_DSP_BYTES(p, q)       \
    "ssat " p ", #8, " p "\n"    \
    "ssat " q ", #8, " q "\n"    \
    MG_DSP_PAIR(p, q)

#define MG_DSP_PAIR(p, q) "bfi " p ", " q ", #8, #8\n"

/* Converts p = sum a, q = sum a + 256 sum b to p = 2 sum a, q = 2 sum b. */
#define MG_DSP_SPLIT(p, q)           \
    "sub " q ", " q ", " p "\n"      \
    "asr " q ", " q ", #7\n"         \
    "lsl " p ", " p ", #1\n"

/* Converts p = 16 sum a, q = sum a + 16 sum b to p = 2 sum a, q = 2 sum b. */
#define MG_DSP_SPLIT_NIBBLES(p, q)         \
    "sub " q ", " q ", " p ", asr #4\n"    \
    "asr " q ", " q ", #3\n"               \
    "asr " p ", " p ", #3\n"

/* to = the lower four bits of each byte of `from`, times 16 */
#define MG_DSP_LOWER(to, from) "lsl " to ", " from ", #4\nand " to ", " to ", #0xF0F0F0F0\n"

/* Scales sum a and sum b, given p = sum a, q = sum a + 256 sum b. Sum b stays multiplied by 256, with addend and shift
 * of the form _wide (dsp_requantize.h). */
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

/* Loads two adjacent words of the stack. */
#define MG_DSP_TWO(a, b, at)                                            \
    ".if " at " <= 1020\n ldrd " a ", " b ", [sp, #" at "]\n"           \
    ".else\n ldr " a ", [sp, #" at "]\n ldr " b ", [sp, #" at "+4]\n .endif\n"

/* r12 = out, r10 = out_c */
#define MG_DSP_OUT MG_DSP_TWO("r12", "r10", "mg_j+4")

/* Adds `step`, an immediate, to the pointer of every run on the stack. Leaves the first run's pointer in r12. */
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

/* Continues with the next pair of channels, or with the first pair of the next block. pixels: pixels of a block, as
 * text. */
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

/* A run of contiguous taps: `quad` for each group of four, then `two` if two taps are left. */
#define MG_DSP_QUADS(quad, two)       \
    ".set mg_x, 0\n"                  \
    ".rept mg_quads\n"                \
    quad MG_DSP_NEXT                  \
    ".set mg_x, mg_x+2*mg_q\n.endr\n" \
    ".if mg_pair\n" two MG_DSP_NEXT ".endif\n"

/* A run of gathered words: `three` words at a time, then `two` or `one`. */
#define MG_DSP_WORDS(three, two, one)                      \
    ".set mg_words, 2*mg_quads+mg_pair\n"                  \
    ".rept mg_words/3\n" three ".endr\n"                   \
    ".set mg_left, mg_words-mg_words/3*3\n"                \
    ".if mg_left == 2\n" two ".endif\n"                    \
    ".if mg_left == 1\n" one ".endif\n"

/* A run with single-word loads. Each load is placed beside a product, well before its use.
 * head: loads the operands of the first products. even, odd: compute one word each
 * mg_odd: 1 if a word follows the even word; mg_more: not 0 if a word follows the odd word */
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

/* Code for gathered taps: `lead`, then `run`. If mg_loop is 1, `run` is repeated up to x_end, and `next` advances the
 * data pointer each time (empty if `run` does that). */
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

/* Loop over the runs whose pointers are on the stack. run: code for one run; it must not change the flags. */
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

/* MG_DSP_LOOPED without a loop: `run` is repeated for each pointer on the stack. */
#define MG_DSP_UNROLLED(run)                 \
    ".if mg_segments != 0 && mg_loop == 0\n" \
    ".set mg_s, mg_segments\n"               \
    ".rept mg_segments\n"                    \
    ".set mg_s, mg_s-1\n"                    \
    ".if mg_s < mg_segments-1\n ldr r12, [sp, #4*mg_s]\n .endif\n" \
    run                                      \
    ".endr\n.endif\n"

/* mg_dsp_low: the lower half of a word; mg_dsp_high: its upper half. Both are signed. */
static inline int32_t mg_dsp_low(int32_t word)
{
    return (int16_t)(word & 0xFFFF);
}

static inline int32_t mg_dsp_high(int32_t word)
{
    return word >> 16;
}

/* Byte of a word that begins at bit `shift`; mg_dsp_lower: the lower four bits of such a byte. Both are signed. */
static inline int32_t mg_dsp_byte(int32_t word, uint32_t shift)
{
    return (int8_t)((word >> shift) & 0xFF);
}

static inline int32_t mg_dsp_lower(int32_t byte)
{
    return ((byte & 15) ^ 8) - 8;
}

#endif /* MCUGEN_DSP_BLOCK_H */
