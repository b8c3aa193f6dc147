/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: a block of 3 or 2 pixels times all pairs of output channels, on cores with SMLAD.
 *
 *   MG_QUADS      groups of four taps in a run (contiguous taps)
 *   MG_PAIR       1: two more taps end each run
 *   MG_SEGMENTS   n > 0: the taps are n runs, each with its own pointer; pixels are MG_STEP bytes apart
 *                 0: the taps are gathered, two to a word: word 0 of three pixels, then word 1 of the three ...
 *   MG_LOOP       1: a loop over the runs, or over parts of the gathered taps; 0: all are unrolled
 *   MG_REST       1: there are also blocks of 2 pixels
 *   MG_LINEAR     how sums are scaled, by a form of dsp_requantize.h: 0: _clamped; 1: the general form; 2, 3: _once;
 *                 4: _float; 5: _alike, with the shift MG_SHIFT for all channels. With MG_COMPOSITE 1, 0 and 2 scale b
 *                 as a 256-fold sum (_wide)
 *   MG_COMPOSITE  0: int16 weights, doubled
 *                 1: int8 weights, two channels to a halfword, a + 256 b
 *                 2: 4-bit weights, two channels to a byte, a + 16 b; taps are gathered, in whole groups of four
 *   MG_SINGLE     1: single-word loads only, which Cortex-M7 issues together with other instructions
 *   MG_SUMMED     defined, with MG_COMPOSITE 1 and gathered taps: 9-bit weights, see dsp_sums.h; a is 0 to 255 in the
 *                 stream
 *
 * The stream holds per pair of channels (a, b), in the order of reading:
 *   biases   MG_COMPOSITE 0: 2 bias a, 2 bias b;  1: bias a, bias a + 256 bias b;  2: 16 bias a, bias a + 16 bias b
 *   weights  MG_COMPOSITE 0: per two taps a word of a, a word of b;  1: per two taps a composite word, the first tap in
 *            the lower half;  2: per four taps a composite word, taps 0, 2, 1, 3 in its bytes
 *   scales   mult a, mult b, addend a, addend b and, unless MG_LINEAR is 5, shift a, shift b
 * Taps are stored values; their zero point is folded into the bias.
 *
 * Instructions for the 24 products of four taps, three pixels and two channels: 16, or 18 with MG_COMPOSITE 1. With
 * gathered taps: 15.3, 16.7 with MG_COMPOSITE 1, 21 with MG_COMPOSITE 2. With MG_SINGLE: 22.
 */
#include "mcugen/dsp_block.h"

#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)

/* Extracts the weights of channel a from a composite word. */
#ifdef MG_SUMMED
#define MG_FIRST_OF(to, from) "uxtb16 " to ", " from "\n"
#else
#define MG_FIRST_OF(to, from) "sxtb16 " to ", " from "\n"
#endif

#if MG_COMPOSITE == 2 && MG_LINEAR == 4
#define MG_FINISH(p, q) MG_DSP_SPLIT_NIBBLES(p, q) MG_DSP_FINISH_FLOAT(p, q) MG_DSP_BYTES(p, q)
#elif MG_COMPOSITE == 2 && MG_LINEAR > 1
#define MG_FINISH(p, q) MG_DSP_SPLIT_NIBBLES(p, q) MG_DSP_FINISH_ONCE(p, q) MG_DSP_BYTES(p, q)
#elif MG_COMPOSITE == 2 && MG_LINEAR
#define MG_FINISH(p, q) MG_DSP_SPLIT_NIBBLES(p, q) MG_DSP_FINISH_LINEAR(p, q) MG_DSP_BYTES(p, q)
#elif MG_COMPOSITE == 2
#define MG_FINISH(p, q) MG_DSP_SPLIT_NIBBLES(p, q) MG_DSP_FINISH_CLAMPED(p, q) MG_DSP_BYTES(p, q)
#elif MG_COMPOSITE && MG_LINEAR == 4
#define MG_FINISH(p, q) MG_DSP_SPLIT(p, q) MG_DSP_FINISH_FLOAT(p, q) MG_DSP_BYTES(p, q)
#elif MG_LINEAR == 5
#define MG_FINISH(p, q) MG_DSP_FINISH_ALIKE(p, q, MG_TEXT(MG_SHIFT))
#elif MG_LINEAR == 4
#define MG_FINISH(p, q) MG_DSP_FINISH_FLOAT(p, q) MG_DSP_BYTES(p, q)
#elif MG_COMPOSITE && MG_LINEAR == 3
#define MG_FINISH(p, q) MG_DSP_SPLIT(p, q) MG_DSP_FINISH_ONCE(p, q) MG_DSP_BYTES(p, q)
#elif MG_COMPOSITE && MG_LINEAR == 2
#define MG_FINISH(p, q) MG_DSP_FINISH_SPLIT_ONCE(p, q) MG_DSP_BYTES(p, q)
#elif MG_COMPOSITE && MG_LINEAR
#define MG_FINISH(p, q) MG_DSP_SPLIT(p, q) MG_DSP_FINISH_LINEAR(p, q) MG_DSP_BYTES(p, q)
#elif MG_COMPOSITE
#define MG_FINISH(p, q) MG_DSP_FINISH_SPLIT(p, q) MG_DSP_BYTES(p, q)
#elif MG_LINEAR > 1
#define MG_FINISH(p, q) MG_DSP_FINISH_ONCE(p, q) MG_DSP_BYTES(p, q)
#elif MG_LINEAR
#define MG_FINISH(p, q) MG_DSP_FINISH_LINEAR(p, q) MG_DSP_BYTES(p, q)
#else
#define MG_FINISH(p, q) MG_DSP_FINISH_CLAMPED(p, q) MG_DSP_BYTES(p, q)
#endif

#if MG_LINEAR == 5
#define MG_SCALES "ldmia lr!, {r0-r3}\n"
#else
#define MG_SCALES "ldmia lr!, {r0-r3, r10, r11}\n"
#endif

/* Copies the biases to the sums of another pixel: by moves, or by loads, which are shorter but slower. */
#if MG_COMPOSITE
#define MG_SAME(p, q, r, s) "mov " p ", " r "\nmov " q ", " s "\n"
#else
#define MG_SAME(p, q, r, s) "ldrd " p ", " q ", [lr, #-8]\n"
#endif

#define MG_RUN ".set mg_quads, " MG_TEXT(MG_QUADS) "\n.set mg_pair, " MG_TEXT(MG_PAIR) "\n"

/* mg_first: 1 if the next product is the first of its sum, which adds the bias. With MG_SUMMED, the first product is
 * that with the word of sums (dsp_sums.h); it is computed before any loop. */
#ifdef MG_SUMMED
#define MG_STARTS ".set mg_first, 1\n"
#else
#define MG_STARTS ".set mg_first, 1-mg_loop\n"
#endif

#define MG_SIZES                                                                                                       \
    ".set mg_segments, " MG_TEXT(MG_SEGMENTS) "\n" MG_RUN ".set mg_loop, " MG_TEXT(MG_LOOP) "\n"                        \
    ".if mg_segments\n .set mg_t, 4*mg_segments-4\n .else\n .set mg_t, 0\n .endif\n"                                \
    ".set mg_j, (mg_t+15)/8*8\n.set mg_frame, mg_j+20\n.set mg_v, 16-8*" MG_TEXT(MG_COMPOSITE) "\n"                   \
    MG_STARTS                                                                                                          \
    ".if mg_segments\n.set mg_p, " MG_TEXT(MG_STEP) "\n.set mg_q, 4\n"                                                \
    ".else\n.set mg_p, 4\n.set mg_q, 12\n.endif\n"

#if MG_SINGLE

#define MG_BIAS(p, q) "ldrd " p ", " q ", [lr]\n.if mg_first == 0\nadd lr, lr, #8\n.endif\n"

/* r0, r1: weights of even words, r2, r3: weights of odd words, r10, r11: data, alternately */
#define MG_LOAD(x, word, pixel) "ldr " x ", [r12, #mg_x+" word "*mg_q+" pixel "*mg_p]\n"
#define MG_IF(symbol, text) ".if " symbol "\n" text ".endif\n"
#define MG_FIRST2                                                                      \
    MG_IF("mg_segments", MG_LOAD("r10", "0", "0") MG_LOAD("r11", "0", "1"))            \
    MG_IF("mg_segments == 0", "ldrd r10, r11, [r12]\n")
#if MG_COMPOSITE
#define MG_HEAD "ldr r1, [lr, #mg_w]\n" MG_FIRST2 MG_FIRST_OF("r0", "r1")
#define MG_ODD1 "ldr r3, [lr, #mg_w+4]\n"
#define MG_ODD2 MG_FIRST_OF("r2", "r3")
#define MG_NEXT1 "ldr r1, [lr, #mg_w+8]\n"
#define MG_NEXT2 MG_FIRST_OF("r0", "r1")
#define MG_ONE(p, q, x, a, b, r, s) MG_DSP_FIRST(q, x, b, s)
#define MG_OTHER(p, q, x, a, b, r, s) MG_DSP_FIRST(p, x, a, r)
#else
#define MG_HEAD "ldrd r0, r1, [lr, #mg_w]\n" MG_FIRST2
#define MG_ODD1 "ldr r2, [lr, #mg_w+8]\n"
#define MG_ODD2 "ldr r3, [lr, #mg_w+12]\n"
#define MG_NEXT1 "ldr r0, [lr, #mg_w+16]\n"
#define MG_NEXT2 "ldr r1, [lr, #mg_w+20]\n"
#define MG_ONE(p, q, x, a, b, r, s) MG_DSP_FIRST(p, x, a, r)
#define MG_OTHER(p, q, x, a, b, r, s) MG_DSP_FIRST(q, x, b, s)
#endif
#define MG_BOTH(p, q, x, a, b, beside, after, r, s) MG_ONE(p, q, x, a, b, r, s) beside MG_OTHER(p, q, x, a, b, r, s) after
#define MG_BOTH3(p, q, x, a, b, beside, after) MG_BOTH(p, q, x, a, b, beside, after, "r8", "r9")
#define MG_BOTH2(p, q, x, a, b, beside, after) MG_BOTH(p, q, x, a, b, beside, after, "r6", "r7")
#define MG_EVEN3                                                                                       \
    MG_BOTH3("r4", "r5", "r10", "r0", "r1", MG_IF("mg_odd", MG_ODD1), MG_LOAD("r10", "0", "2"))         \
    MG_BOTH3("r6", "r7", "r11", "r0", "r1", "", MG_IF("mg_odd", MG_LOAD("r11", "1", "0")))              \
    MG_BOTH3("r8", "r9", "r10", "r0", "r1", MG_IF("mg_odd", MG_ODD2), MG_IF("mg_odd", MG_LOAD("r10", "1", "1")))
#define MG_ODD3                                                                                        \
    MG_BOTH3("r4", "r5", "r11", "r2", "r3", MG_IF("mg_more", MG_NEXT1), MG_LOAD("r11", "1", "2"))       \
    MG_BOTH3("r6", "r7", "r10", "r2", "r3", "", MG_IF("mg_more", MG_LOAD("r10", "2", "0")))             \
    MG_BOTH3("r8", "r9", "r11", "r2", "r3", MG_IF("mg_more", MG_NEXT2), MG_IF("mg_more", MG_LOAD("r11", "2", "1")))
#define MG_EVEN2                                                                                                    \
    MG_BOTH2("r4", "r5", "r10", "r0", "r1", MG_IF("mg_odd", MG_ODD1), MG_IF("mg_odd", MG_LOAD("r10", "1", "0")))     \
    MG_BOTH2("r6", "r7", "r11", "r0", "r1", MG_IF("mg_odd", MG_ODD2), MG_IF("mg_odd", MG_LOAD("r11", "1", "1")))
#define MG_ODD_2                                                                                                    \
    MG_BOTH2("r4", "r5", "r10", "r2", "r3", MG_IF("mg_more", MG_NEXT1), MG_IF("mg_more", MG_LOAD("r10", "2", "0")))  \
    MG_BOTH2("r6", "r7", "r11", "r2", "r3", MG_IF("mg_more", MG_NEXT2), MG_IF("mg_more", MG_LOAD("r11", "2", "1")))
#define MG_ROW3 MG_DSP_SINGLE(MG_HEAD, MG_EVEN3, MG_ODD3)
#define MG_ROW2 MG_DSP_SINGLE(MG_HEAD, MG_EVEN2, MG_ODD_2)
#define MG_BEYOND "add r12, r12, #mg_q*(2*mg_quads+mg_pair)\n"
#ifdef MG_SUMMED
#define MG_LEAD(row) ".set mg_quads, 0\n.set mg_pair, 1\n" row MG_BEYOND MG_RUN
#else
#define MG_LEAD(row)
#endif
#define MG_GATHERED3 MG_DSP_GATHERED(MG_LEAD(MG_ROW3), MG_ROW3, MG_BEYOND)
#define MG_GATHERED2 MG_DSP_GATHERED(MG_LEAD(MG_ROW2), MG_ROW2, MG_BEYOND)

#else

#define MG_BIAS(p, q) "ldrd " p ", " q ", [lr], #8\n"

/* Taps in rows. r0-r3: weights, r10, r11: data */
#if MG_COMPOSITE
#define MG_WEIGHTS "ldrd r1, r3, [lr], #8\nsxtb16 r0, r1\nsxtb16 r2, r3\n"
#define MG_WEIGHTS_TWO "ldr r1, [lr], #4\nsxtb16 r0, r1\n"
#else
#define MG_WEIGHTS "ldmia lr!, {r0-r3}\n"
#define MG_WEIGHTS_TWO "ldrd r0, r1, [lr], #8\n"
#endif
#define MG_PIXEL(offset, p, q, r, s) \
    "ldrd r10, r11, [r12, #mg_x+" offset "]\n" MG_DSP_MULTIPLY(p, q, r, s) MG_DSP_MULTIPLY_HIGH(p, q)
#define MG_PIXEL_TWO(offset, p, q, r, s) "ldr r10, [r12, #mg_x+" offset "]\n" MG_DSP_MULTIPLY(p, q, r, s)
#define MG_PIXELS2(pixel) pixel("0", "r4", "r5", "r6", "r7") pixel("mg_p", "r6", "r7", "r6", "r7")
#define MG_PIXELS3(pixel)                                                              \
    pixel("0", "r4", "r5", "r8", "r9") pixel("mg_p", "r6", "r7", "r8", "r9") pixel("2*mg_p", "r8", "r9", "r8", "r9")
#define MG_QUAD2 MG_WEIGHTS MG_PIXELS2(MG_PIXEL)
#define MG_QUAD3 MG_WEIGHTS MG_PIXELS3(MG_PIXEL)
#define MG_TWO2 MG_WEIGHTS_TWO MG_PIXELS2(MG_PIXEL_TWO)
#define MG_TWO3 MG_WEIGHTS_TWO MG_PIXELS3(MG_PIXEL_TWO)
#define MG_ROW3 MG_DSP_QUADS(MG_QUAD3, MG_TWO3)
#define MG_ROW2 MG_DSP_QUADS(MG_QUAD2, MG_TWO2)

/* Gathered taps. r0-r2: a word of each pixel, r3, r10, r11: weights */
#define MG_LOAD3 "ldmia r12!, {r0-r2}\n"
#define MG_LOAD2 "ldrd r0, r1, [r12], #12\n"
#define MG_A2(w) MG_DSP_FIRST("r4", "r0", w, "r6") MG_DSP_SMLAD("r6", "r1", w)
#define MG_B2(w) MG_DSP_FIRST("r5", "r0", w, "r7") MG_DSP_SMLAD("r7", "r1", w)
#define MG_A3(w) MG_DSP_FIRST("r4", "r0", w, "r8") MG_DSP_FIRST("r6", "r1", w, "r8") MG_DSP_SMLAD("r8", "r2", w)
#define MG_B3(w) MG_DSP_FIRST("r5", "r0", w, "r9") MG_DSP_FIRST("r7", "r1", w, "r9") MG_DSP_SMLAD("r9", "r2", w)
#define MG_THREE "ldmia lr!, {r3, r10, r11}\n"
#if MG_COMPOSITE
#define MG_WORD(load, a, b, w) load b(w) MG_FIRST_OF(w, w) a(w) MG_DSP_NEXT
#define MG_WORDS1(load, a, b) "ldr r3, [lr], #4\n" MG_WORD(load, a, b, "r3")
#define MG_WORDS2(load, a, b) "ldrd r3, r10, [lr], #8\n" MG_WORD(load, a, b, "r3") MG_WORD(load, a, b, "r10")
#define MG_WORDS3(load, a, b) \
    MG_THREE MG_WORD(load, a, b, "r3") MG_WORD(load, a, b, "r10") MG_WORD(load, a, b, "r11")
#else
#define MG_WORDS1(load, a, b) "ldrd r3, r10, [lr], #8\n" load a("r3") b("r10") MG_DSP_NEXT
#define MG_WORDS2(load, a, b) MG_WORDS1(load, a, b) MG_WORDS1(load, a, b)
#define MG_WORDS3(load, a, b) \
    MG_THREE load a("r3") b("r10") MG_DSP_NEXT load a("r11") MG_THREE b("r3") load a("r10") b("r11")
#endif
#ifdef MG_SUMMED
#define MG_LEAD(load, a, b) MG_WORDS1(load, a, b)
#else
#define MG_LEAD(load, a, b)
#endif
#if MG_COMPOSITE == 2
#define MG_FOUR(load, a, b)                                             \
    "ldr r10, [lr], #4\n" load MG_DSP_LOWER("r11", "r10")               \
    "sxtb16 r3, r10\n" b("r3") "sxtb16 r3, r11\n" a("r3") MG_DSP_NEXT load \
    "sxtb16 r3, r10, ror #8\n" b("r3") "sxtb16 r3, r11, ror #8\n" a("r3")
#define MG_GATHERED(load, a, b) MG_DSP_GATHERED("", ".rept mg_quads\n" MG_FOUR(load, a, b) ".endr\n", "")
#else
#define MG_GATHERED(load, a, b) \
    MG_DSP_GATHERED(MG_LEAD(load, a, b), MG_DSP_WORDS(MG_WORDS3(load, a, b), MG_WORDS2(load, a, b), MG_WORDS1(load, a, b)), "")
#endif
#define MG_GATHERED3 MG_GATHERED(MG_LOAD3, MG_A3, MG_B3)
#define MG_GATHERED2 MG_GATHERED(MG_LOAD2, MG_A2, MG_B2)

#endif

__attribute__((naked, noinline)) static void MG_VARIANT(block3)(const mg_dsp_job *job MCUGEN_UNUSED)
{
    __asm__(MG_SIZES MG_DSP_BEGIN
            MG_BIAS("r8", "r9")
            ".if mg_first == 0\n"
            MG_SAME("r4", "r5", "r8", "r9")
            MG_SAME("r6", "r7", "r8", "r9")
            ".endif\n");
    __asm__(MG_GATHERED3);
    __asm__(MG_DSP_LOOPED(MG_ROW3));
    __asm__(MG_DSP_UNROLLED(MG_ROW3));
    __asm__(MG_SCALES
            MG_FINISH("r4", "r5") MG_FINISH("r6", "r7") MG_FINISH("r8", "r9")
            MG_DSP_OUT
            "strh r8, [r12, r10, lsl #1]\n"
            "strh r6, [r12, r10]\n"
            "strh r4, [r12], #2\n"
            MG_DSP_END("3"));
}

#if MG_REST
__attribute__((naked, noinline)) static void MG_VARIANT(block2)(const mg_dsp_job *job MCUGEN_UNUSED)
{
    __asm__(MG_SIZES MG_DSP_BEGIN
            MG_BIAS("r6", "r7")
            ".if mg_first == 0\n"
            MG_SAME("r4", "r5", "r6", "r7")
            ".endif\n");
    __asm__(MG_GATHERED2);
    __asm__(MG_DSP_LOOPED(MG_ROW2));
    __asm__(MG_DSP_UNROLLED(MG_ROW2));
    __asm__(MG_SCALES
            MG_FINISH("r4", "r5") MG_FINISH("r6", "r7")
            MG_DSP_OUT
            "strh r6, [r12, r10]\n"
            "strh r4, [r12], #2\n"
            MG_DSP_END("2"));
}
#endif

#undef MG_FIRST_OF
#undef MG_FINISH
#undef MG_SCALES
#undef MG_SAME
#undef MG_SIZES
#undef MG_RUN
#undef MG_STARTS
#undef MG_LEAD
#undef MG_BEYOND
#undef MG_BIAS
#undef MG_LOAD
#undef MG_IF
#undef MG_FIRST2
#undef MG_HEAD
#undef MG_ODD1
#undef MG_ODD2
#undef MG_NEXT1
#undef MG_NEXT2
#undef MG_ONE
#undef MG_OTHER
#undef MG_BOTH
#undef MG_BOTH3
#undef MG_BOTH2
#undef MG_EVEN3
#undef MG_ODD3
#undef MG_EVEN2
#undef MG_ODD_2
#undef MG_ROW3
#undef MG_ROW2
#undef MG_GATHERED3
#undef MG_GATHERED2
#undef MG_WEIGHTS
#undef MG_WEIGHTS_TWO
#undef MG_PIXEL
#undef MG_PIXEL_TWO
#undef MG_PIXELS2
#undef MG_PIXELS3
#undef MG_QUAD2
#undef MG_QUAD3
#undef MG_TWO2
#undef MG_TWO3
#undef MG_LOAD3
#undef MG_LOAD2
#undef MG_A2
#undef MG_B2
#undef MG_A3
#undef MG_B3
#undef MG_THREE
#undef MG_WORD
#undef MG_WORDS1
#undef MG_WORDS2
#undef MG_WORDS3
#undef MG_GATHERED
#undef MG_FOUR

#else
#include "mcugen/dsp_block_plain_template.h"
#endif

static inline void MG_VARIANT(pixels)(const mg_dsp_job *job, uint32_t pixels)
{
#if MG_REST
    if (pixels == 2u) {
        MG_VARIANT(block2)(job);
        return;
    }
#endif
    (void)pixels;
    MG_VARIANT(block3)(job);
}

/* Computes all out_c channels of a block of 3 or 2 pixels. last: end of the stream. An odd last channel is computed as
 * a pair of its own. */
#if MG_REST
MG_DSP_ONCE
#endif
static MCUGEN_UNUSED void MG_VARIANT(channels)(const mg_dsp_job *job, const int32_t *last, uint32_t out_c, uint32_t pixels)
{
    int8_t pair[6];
    const mg_dsp_job odd = {job->x, last, job->x_end, pair, 2u, job->end, 1u};
    if (out_c > 1u) {
        MG_VARIANT(pixels)(job, pixels);
    }
    if ((out_c & 1u) != 0u) {
        MG_VARIANT(pixels)(&odd, pixels);
        for (uint32_t i = 0u; i < pixels; i += 1u) {
            job->out[i * job->out_c + out_c - 1u] = pair[2u * i];
        }
    }
}
