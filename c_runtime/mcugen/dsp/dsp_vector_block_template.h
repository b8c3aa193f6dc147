/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: a matrix-vector product on cores with SMLAD, four outputs at a time. 32 products take 21 instructions; 27
 * with two outputs' int8 weights in a halfword, 29 if these are loaded word by word; 43 with two outputs' 4-bit weights
 * in a byte.
 *
 *   MG_UNROLL     unrolled steps of eight taps
 *   MG_LOOP       1: the unrolled steps are repeated until all taps are done
 *   MG_LINEAR     0: outputs are clamped at their zero point, or above; 1: any range
 *   MG_ONCE       rounding: 0: twice, as mg_requantize does; 1: once, to the nearest; 2: by a float multiplication
 *   MG_COMPOSITE  0: int16 weights, doubled
 *                 1: int8 weights, two outputs to a halfword, a + 256 b
 *                 2: 4-bit weights, two outputs to a byte, a + 16 b
 *   MG_SINGLE     1, with MG_COMPOSITE: loads beside products, for Cortex-M7
 *   MG_DIRECT     defined, with MG_COMPOSITE below 2 and not MG_SINGLE: bytes are widened as they are read, a step has
 *                 four taps: 13 instructions for 16 products, composite 16
 *   MG_TAIL       with MG_DIRECT: taps behind the whole steps; the last four taps are read together
 *   MG_WINDOWS    defined, with MG_DIRECT: a convolution, see dsp_windows.h; each kernel row has these steps and tail
 *   MG_STEPS      with MG_WINDOWS: whole steps of a kernel row
 *   MG_EDGES      with MG_WINDOWS: 1: some windows reach beyond the image; 2: they do so by whole steps
 *   MG_SUMMED     defined, with MG_COMPOSITE 1: 9-bit weights, see dsp_sums.h; a is 0 to 255 in the stream
 *
 * The stream holds per block of four outputs, two pairs (a, b), in the order of reading:
 *   biases   MG_COMPOSITE 0: doubled;  1: bias a, bias a + 256 bias b per pair;  2: 16 bias a, bias a + 16 bias b per
 *            pair
 *   weights  MG_COMPOSITE 0: per eight taps four words of each output;  1: four words of each pair;  2: two words of
 *            each pair, taps 0, 2, 1, 3 in the bytes of the first. With MG_DIRECT: per four taps two words of each
 *            output or pair
 *   scales   four multipliers, four addends, four shifts, see dsp_requantize.h
 */
#include "mcugen/dsp_block.h"
#ifdef MG_SUMMED
#include "mcugen/dsp_sums.h"
#endif

#if defined(MG_WINDOWS)
#define MG_JOB mg_dsp_windows_job
#elif defined(MG_DIRECT)
#define MG_JOB mg_dsp_direct_job
#else
#define MG_JOB mg_dsp_vector_job
#endif

#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)

/* r0-r3: data, r4-r7: sums, r8-r11: weights, r12: data pointer, lr: stream */
#define MG_OUTPUT(sum)                   \
    "ldmia lr!, {r8-r11}\n"              \
    "smlad " sum ", r0, r8, " sum "\n"   \
    "smlad " sum ", r1, r9, " sum "\n"   \
    "smlad " sum ", r2, r10, " sum "\n"  \
    "smlad " sum ", r3, r11, " sum "\n"

/* Extracts the weights of output a from a composite word. */
#ifdef MG_SUMMED
#define MG_FIRST_OF(w) "uxtb16 " w ", " w "\n"
#else
#define MG_FIRST_OF(w) "sxtb16 " w ", " w "\n"
#endif
#define MG_PAIR_OF(x, w, a, b) MG_DSP_SMLAD(b, x, w) MG_FIRST_OF(w) MG_DSP_SMLAD(a, x, w)

#define MG_BOTH(a, b)                    \
    "ldmia lr!, {r8-r11}\n"              \
    MG_PAIR_OF("r0", "r8", a, b) MG_PAIR_OF("r1", "r9", a, b) MG_PAIR_OF("r2", "r10", a, b) MG_PAIR_OF("r3", "r11", a, b)

#define MG_FOUR_OF(x0, x1, w, a, b)                                  \
    MG_DSP_LOWER("r10", w)                                           \
    "sxtb16 r11, " w "\n" MG_DSP_SMLAD(b, x0, "r11")                 \
    "sxtb16 r11, r10\n" MG_DSP_SMLAD(a, x0, "r11")                   \
    "sxtb16 r11, " w ", ror #8\n" MG_DSP_SMLAD(b, x1, "r11")         \
    "sxtb16 r11, r10, ror #8\n" MG_DSP_SMLAD(a, x1, "r11")

#define MG_NIBBLES_OF(a, b) \
    "ldrd r8, r9, [lr], #8\n" MG_FOUR_OF("r0", "r1", "r8", a, b) MG_FOUR_OF("r2", "r3", "r9", a, b)

/* Adds the products of data x0 to x3 with the composite words in r8-r11 to the sums a and b. one, other: loads of the
 * next weights, placed among the products. */
#define MG_AMONG(a, b, x0, x1, x2, x3, one, other)               \
    MG_DSP_SMLAD(b, x0, "r8")                                    \
    MG_DSP_SMLAD(b, x1, "r9") MG_FIRST_OF("r8")                  \
    MG_DSP_SMLAD(b, x2, "r10") MG_FIRST_OF("r9")                 \
    MG_DSP_SMLAD(b, x3, "r11") MG_FIRST_OF("r10")               \
    MG_DSP_SMLAD(a, x0, "r8") MG_FIRST_OF("r11")                \
    MG_DSP_SMLAD(a, x1, "r9") one                                \
    MG_DSP_SMLAD(a, x2, "r10") other                             \
    MG_DSP_SMLAD(a, x3, "r11")

#if MG_SINGLE
#define MG_EIGHT                                                                                                \
    "ldmia lr!, {r8-r11}\n"                                                                                     \
    MG_AMONG("r4", "r5", "r0", "r1", "r2", "r3", "ldr r8, [lr, #8]\n", "ldr r9, [lr, #12]\n")                   \
    "ldrd r10, r11, [lr], #16\n"                                                                                \
    MG_AMONG("r6", "r7", "r2", "r3", "r0", "r1", "", "")
#elif MG_COMPOSITE == 2
#define MG_EIGHT MG_NIBBLES_OF("r4", "r5") MG_NIBBLES_OF("r6", "r7")
#elif MG_COMPOSITE
#define MG_EIGHT MG_BOTH("r4", "r5") MG_BOTH("r6", "r7")
#else
#define MG_EIGHT MG_OUTPUT("r4") MG_OUTPUT("r5") MG_OUTPUT("r6") MG_OUTPUT("r7")
#endif

#ifdef MG_DIRECT
#if MG_COMPOSITE
#define MG_FOUR                                                                                          \
    "ldmia lr!, {r8-r11}\n"                                                                              \
    MG_PAIR_OF("r0", "r8", "r4", "r5") MG_PAIR_OF("r1", "r9", "r4", "r5")                                \
    MG_PAIR_OF("r0", "r10", "r6", "r7") MG_PAIR_OF("r1", "r11", "r6", "r7")
#else
#define MG_TWO_OF(a, b)                                                                                  \
    "ldmia lr!, {r8-r11}\n"                                                                              \
    MG_DSP_SMLAD(a, "r0", "r8") MG_DSP_SMLAD(b, "r0", "r10") MG_DSP_SMLAD(a, "r1", "r9") MG_DSP_SMLAD(b, "r1", "r11")
#define MG_FOUR MG_TWO_OF("r4", "r5") MG_TWO_OF("r6", "r7")
#endif
#define MG_READ "sxtb16 r0, r1\nsxtb16 r1, r1, ror #8\n" MG_FOUR
#define MG_STEP "ldr r1, [r12], #4\n" MG_READ
#else
#define MG_STEP "ldmia r12!, {r0-r3}\n" MG_EIGHT
#endif

/* Code for the taps behind the last whole step. */
#if defined(MG_DIRECT) && MG_TAIL
#define MG_REST "ldr r1, [r12, #" MG_TEXT(MG_TAIL) " - 4]\n" MG_READ
#else
#define MG_REST
#endif

#include "mcugen/dsp_vector_taps_template.h"

/* MG_SCALES separates the sums of two channels that share a register, and loads multipliers and addends;
 * MG_SHIFTS loads the shifts. */
#if MG_SINGLE
#define MG_BIASES "ldrd r6, r7, [lr, #8]\nldrd r4, r5, [lr], #16\n"
#define MG_SHIFTS "ldr r0, [lr, #32]\nldr r1, [lr, #36]\nldr r2, [lr, #40]\nldr r3, [lr, #44]\nadd lr, lr, #48\n"
#define MG_SCALES                                          \
    "sub r5, r5, r4\nldr r0, [lr]\n"                       \
    "sub r7, r7, r6\nldr r1, [lr, #4]\n"                   \
    "asr r5, r5, #7\nldr r2, [lr, #8]\n"                   \
    "lsl r4, r4, #1\nldr r3, [lr, #12]\n"                  \
    "asr r7, r7, #7\nldr r8, [lr, #16]\n"                  \
    "lsl r6, r6, #1\nldr r9, [lr, #20]\n"                  \
    "ldr r10, [lr, #24]\nldr r11, [lr, #28]\n"
#else
#define MG_BIASES "ldmia lr!, {r4-r7}\n"
#define MG_SHIFTS "ldmia lr!, {r0-r3}\n"
#if MG_COMPOSITE == 2
#define MG_SCALES MG_DSP_SPLIT_NIBBLES("r4", "r5") MG_DSP_SPLIT_NIBBLES("r6", "r7") "ldmia lr!, {r0-r3, r8-r11}\n"
#elif MG_COMPOSITE
#define MG_SCALES MG_DSP_SPLIT("r4", "r5") MG_DSP_SPLIT("r6", "r7") "ldmia lr!, {r0-r3, r8-r11}\n"
#else
#define MG_SCALES "ldmia lr!, {r0-r3, r8-r11}\n"
#endif
#endif

/* Code for the products with the word of sums, see dsp_sums.h. */
#ifdef MG_SUMMED
#define MG_LEAD \
    "ldr r0, [r12], #4\nldrd r8, r9, [lr], #8\n" MG_PAIR_OF("r0", "r8", "r4", "r5") MG_PAIR_OF("r0", "r9", "r6", "r7")
#else
#define MG_LEAD
#endif

#if MG_ONCE == 2
#define MG_SIGN(sum, addend)
#define MG_SCALED_HIGH(sum, mult, addend) MG_DSP_SCALE_FLOAT(sum, mult, addend)
#elif MG_ONCE
#define MG_SIGN(sum, addend)
#define MG_SCALED_HIGH(sum, mult, addend) "smmla " sum ", " sum ", " mult ", " addend "\n"
#else
#define MG_SCALED_HIGH(sum, mult, addend) "smmlar " sum ", " sum ", " mult ", " addend "\n"
#if MG_LINEAR
#define MG_SIGN(sum, addend) "sub " addend ", " addend ", " sum ", lsr #31\n"
#else
#define MG_SIGN(sum, addend)
#endif
#endif
#if MG_ONCE == 2
#define MG_SHIFT(sum, shift)
#else
#define MG_SHIFT(sum, shift) "asr " sum ", " sum ", " shift "\n"
#endif
#define MG_BYTE(sum) "ssat " sum ", #8, " sum "\n"

__attribute__((naked, noinline)) static void MG_VARIANT(vector)(const MG_JOB *job MCUGEN_UNUSED)
{
    __asm__("push {r4-r11, lr}\n"
            "sub sp, sp, #" MG_FRAME "\n"
            MG_BEGIN
            "1:\n"
            MG_BIASES
            MG_TAPS
            MG_SCALES
            MG_SIGN("r4", "r8") MG_SIGN("r5", "r9") MG_SIGN("r6", "r10") MG_SIGN("r7", "r11")
            MG_SCALED_HIGH("r4", "r0", "r8") MG_SCALED_HIGH("r5", "r1", "r9")
            MG_SCALED_HIGH("r6", "r2", "r10") MG_SCALED_HIGH("r7", "r3", "r11")
            MG_SHIFTS
            MG_SHIFT("r4", "r0") MG_SHIFT("r5", "r1") MG_SHIFT("r6", "r2") MG_SHIFT("r7", "r3")
            MG_BYTE("r4") MG_BYTE("r5") MG_BYTE("r6") MG_BYTE("r7")
            "bfi r4, r5, #8, #8\n"
            "bfi r6, r7, #8, #8\n"
            "pkhbt r4, r4, r6, lsl #16\n"
            "ldrd r12, r10, [sp, #8]\n"
            "subs r10, r10, #4\n"
            "bmi 3f\n"
            "str r4, [r12], #4\n"
            "strd r12, r10, [sp, #8]\n"
            "bne 1b\n"
            "b 4f\n");
    __asm__("3:\n"
            "strb r4, [r12]\n"
            "lsr r4, r4, #8\n"
            "adds r10, r10, #3\n"
            "beq 4f\n"
            "strb r4, [r12, #1]\n"
            "lsr r4, r4, #8\n"
            "subs r10, r10, #1\n"
            "beq 4f\n"
            "strb r4, [r12, #2]\n"
            "4:\n"
            "add sp, sp, #" MG_FRAME "\n"
            "pop {r4-r11, pc}\n"
            MG_BEYOND);
}

#undef MG_OUTPUT
#undef MG_FIRST_OF
#undef MG_PAIR_OF
#undef MG_BOTH
#undef MG_FOUR_OF
#undef MG_NIBBLES_OF
#undef MG_AMONG
#undef MG_EIGHT
#undef MG_FOUR
#undef MG_TWO_OF
#undef MG_READ
#undef MG_FRAME
#undef MG_BEGIN
#undef MG_TAPS
#undef MG_BEYOND
#undef MG_STEP
#undef MG_REST
#undef MG_BIASES
#undef MG_LEAD
#undef MG_SCALES
#undef MG_SHIFTS
#undef MG_SIGN
#undef MG_SCALED_HIGH
#undef MG_SHIFT
#undef MG_BYTE

#else

static inline int8_t MG_VARIANT(finish)(int32_t sum, const int32_t *scale)
{
#if MG_ONCE == 2
    return (int8_t)mg_clamp(mg_dsp_scale_float(sum, scale[0], scale[4]), -128, 127);
#elif MG_ONCE
    const int32_t y = (int32_t)(((int64_t)sum * scale[0]) >> 32) + scale[4];
    return (int8_t)mg_clamp(y >> (uint32_t)scale[8], -128, 127);
#elif MG_LINEAR
    return (int8_t)mg_clamp(mg_dsp_scale(sum, scale[0], scale[4], scale[8]), -128, 127);
#else
    return (int8_t)mg_clamp(mg_dsp_scale_clamped(sum, scale[0], scale[4], scale[8]), -128, 127);
#endif
}

#if MG_COMPOSITE != 2
/* sum plus the products of two taps x with a word of weights */
static inline int32_t MG_VARIANT(multiply)(int32_t sum, int32_t w, const mg_s16 *x)
{
    const uint32_t products = (uint32_t)(mg_dsp_low(w) * x[0]) + (uint32_t)(mg_dsp_high(w) * x[1]);
    return (int32_t)((uint32_t)sum + products);
}
#endif

#if MG_COMPOSITE == 1
/* Adds the products of two taps x with a composite word to the sums of a pair of outputs. */
static inline void MG_VARIANT(pairs)(int32_t *sums, int32_t word, const mg_s16 *x)
{
#ifdef MG_SUMMED
    const int32_t a = word & 0xFF00FF;
#else
    const int32_t a = (int32_t)((uint32_t)(uint16_t)(int8_t)(word & 0xFF) | (uint32_t)(int8_t)(word >> 16 & 0xFF) << 16);
#endif
    sums[0] = MG_VARIANT(multiply)(sums[0], a, x);
    sums[1] = MG_VARIANT(multiply)(sums[1], word, x);
}
#endif

#ifdef MG_DIRECT
#include "mcugen/dsp_direct_rows.h"
#else
static inline void MG_VARIANT(eight)(int32_t sums[4], const int32_t *w, const mg_s16 *x)
{
    for (uint32_t k = 0u; k < 4u; k += 1u) {
#if MG_COMPOSITE == 2
        for (uint32_t pair = 0u; pair < 4u; pair += 2u) {
            const int32_t word = w[pair + k / 2u];
            const int32_t first = mg_dsp_byte(word, 8u * (k & 1u)), second = mg_dsp_byte(word, 8u * (k & 1u) + 16u);
            const int32_t a = mg_dsp_lower(first) * x[2u * k] + mg_dsp_lower(second) * x[2u * k + 1u];
            const int32_t both = first * x[2u * k] + second * x[2u * k + 1u];
            sums[pair] = (int32_t)((uint32_t)sums[pair] + (uint32_t)(16 * a));
            sums[pair + 1u] = (int32_t)((uint32_t)sums[pair + 1u] + (uint32_t)both);
        }
#elif MG_COMPOSITE
        for (uint32_t pair = 0u; pair < 2u; pair += 1u) {
            MG_VARIANT(pairs)(sums + 2u * pair, w[4u * pair + k], x + 2u * k);
        }
#else
        for (uint32_t o = 0u; o < 4u; o += 1u) {
            sums[o] = MG_VARIANT(multiply)(sums[o], w[4u * o + k], x + 2u * k);
        }
#endif
    }
}
#endif

static void MG_VARIANT(vector)(const MG_JOB *job)
{
    const int32_t *w = job->stream;
#if defined(MG_WINDOWS)
    const int32_t rows = (int32_t)(job->rows_end - job->rows);
    const int32_t *biases = job->biases;
#elif defined(MG_DIRECT)
    const uint32_t taps = (uint32_t)(job->x_end - job->x);
#else
    const uint32_t steps = (uint32_t)(job->x_end - job->x) / 8u, words = MG_COMPOSITE == 2 ? 4u : MG_COMPOSITE ? 8u : 16u;
#ifdef MG_SUMMED
    const mg_s16 *const x = job->x + 2;
#else
    const mg_s16 *const x = job->x;
#endif
#endif
    for (uint32_t o = 0u; o < job->outputs; o += 4u) {
        int32_t sums[4] = {w[0], w[1], w[2], w[3]};
        w += 4;
#ifdef MG_SUMMED
        MG_VARIANT(pairs)(sums, w[0], job->x);
        MG_VARIANT(pairs)(sums + 2, w[1], job->x);
        w += 2;
#endif
#if defined(MG_WINDOWS)
        if (MG_EDGES == 2 && job->edges != NULL) {
            (void)memcpy(sums, biases, sizeof(sums));
            biases += 4;
        }
        for (int32_t i = 0; i < rows; i += 1) {
            w = MG_VARIANT(row)(sums, w, job->rows[i], job);
        }
#elif defined(MG_DIRECT)
        for (uint32_t i = 0u; i < taps; i += 4u) {
            w = MG_VARIANT(four)(sums, w, job->x + i);
        }
#if MG_TAIL
        w = MG_VARIANT(four)(sums, w, job->x_end + MG_TAIL - 4);
#endif
#else
        for (uint32_t i = 0u; i < steps; i += 1u) {
            MG_VARIANT(eight)(sums, w, x + 8u * i);
            w += words;
        }
#endif
        for (uint32_t k = 0u; k < 4u; k += 1u) {
#if MG_COMPOSITE == 2
            const int32_t b = (int32_t)((uint32_t)sums[k | 1u] - (uint32_t)(sums[k & 2u] >> 4)) >> 3;
            const int32_t sum = (k & 1u) != 0u ? b : sums[k] >> 3;
#elif MG_COMPOSITE
            const int32_t b = (int32_t)((uint32_t)sums[k | 1u] - (uint32_t)sums[k & 2u]) >> 7;
            const int32_t sum = (k & 1u) != 0u ? b : sums[k] * 2;
#else
            const int32_t sum = sums[k];
#endif
            if (o + k < job->outputs) {
                job->out[o + k] = MG_VARIANT(finish)(sum, w + k);
            }
        }
        w += 12;
    }
}

#endif

#undef MG_JOB
