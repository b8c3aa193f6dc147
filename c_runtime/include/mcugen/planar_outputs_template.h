/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: depthwise convolution on planar rows: int16, channel by channel, the slots of a channel side by side.
 *
 * MG_H, MG_PARTS, MG_TAPS  kernel rows, each of MG_PARTS parts of MG_TAPS taps;  MG_WORDS  words of weights of a part
 * MG_S, MG_IN, MG_PAD      stride; columns of an input row, and of padding to its left
 * MG_BLOCKS, MG_BLOCK, MG_TAIL  an output row is MG_BLOCKS times MG_BLOCK outputs, then MG_TAIL: their sums in registers
 * MG_C                     channels;   MG_LINEAR  whether the sign of a sum counts;   MG_CLAMP  whether to clamp
 */
#include "mcugen/dsp_requantize.h"

#define MG_OUT (MG_BLOCKS * MG_BLOCK + MG_TAIL)
#define MG_COLUMNS ((MG_S * (MG_OUT - 1) + MG_PARTS * MG_TAPS + 1) / 2 * 2)
#define MG_CHANNEL (MG_H * MG_COLUMNS)
#if MG_IN + MG_PAD < MG_COLUMNS
#define MG_SEEN MG_IN
#else
#define MG_SEEN (MG_COLUMNS - MG_PAD)
#endif

#include "mcugen/planar_rows_template.h"

#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)

#define MG_SET(name, value) ".set mg_" name ", " MG_TEXT(value) "\n"

/* d += value or d -= value, of any size; r0 is lost. */
#define MG_STEP(op, d, value)                                              \
    ".if (" value ") < 4096\n" op " " d ", " d ", #" value "\n"            \
    ".else\n movw r0, #(" value ") & 65535\n movt r0, #(" value ") >> 16\n" \
    op " " d ", " d ", r0\n .endif\n"

/* sum j += data p times weights i; the first product of an output starts from `begin`. */
#define MG_MULTIPLY(op)                                                                 \
    ".if mg_row == 0 && mg_tap < 1\n" op " sum\\j, data\\p, word\\i, begin\n"           \
    ".else\n" op " sum\\j, data\\p, word\\i, sum\\j\n .endif\n"

/* mg_n outputs of a channel: first all products, kernel row by kernel row. */
#define MG_PRODUCTS                                                                     \
    ".irp j, 0, 1, 2, 3, 4, 5\n"                                                        \
    ".if \\j == mg_n - 1\n"                                                             \
    "begin .req sum\\j\n"                                                               \
    ".endif\n"                                                                          \
    ".endr\n"                                                                           \
    ".if mg_words > 4\n ldr r12, [sp, #8]\n .endif\n"                                   \
    ".if mg_once\n ldr begin, [r12], #4\n .else\n ldr begin, [r12]\n .endif\n"          \
    ".set mg_row, 0\n"                                                                  \
    ".rept mg_h * mg_parts\n"                                                           \
    ".if mg_words == 1\n ldr r0, [r11], #4\n .endif\n"                                  \
    ".if mg_words == 2\n ldm r11!, {r0, r1}\n .endif\n"                                 \
    ".if mg_words == 3\n ldm r11!, {r0, r1, r9}\n .endif\n"                             \
    ".if mg_words == 4\n ldm r11!, {r0, r1, r8, r9}\n .endif\n"                         \
    ".if mg_words == 5\n ldm r11!, {r0, r1, r8, r9, r12}\n .endif\n"                    \
    ".if mg_words == 6\n ldm r11!, {r0, r1, r8, r9, r12, lr}\n .endif\n"                \
    ".set mg_base, 2 * (mg_row / mg_parts * mg_columns + mg_row % mg_parts * mg_taps)\n" \
    ".irp u, 0, 1, 2, 3, 4, 5, 6, 7\n"                                                  \
    ".set mg_at, mg_base + 8 * \\u\n"                                                   \
    ".if 2 * \\u + 1 == mg_count\n ldr data0, [r10, #mg_at]\n .endif\n"                 \
    ".if 2 * \\u + 1 < mg_count\n"                                                      \
    ".if mg_at <= 1020\n ldrd data0, data1, [r10, #mg_at]\n"                            \
    ".else\n ldr data0, [r10, #mg_at]\n ldr data1, [r10, #mg_at + 4]\n .endif\n"        \
    ".endif\n"                                                                          \
    ".irp p, 0, 1\n"                                                                    \
    ".irp j, 0, 1, 2, 3, 4, 5\n"                                                        \
    ".if \\j < mg_n\n"                                                                  \
    ".set mg_tap, 4 * \\u + 2 * \\p - mg_s * \\j\n"                                     \
    ".irp i, 0, 1, 2, 3, 4, 5\n"                                                        \
    ".if mg_tap == \\i * mg_unit && mg_tap < mg_taps - 1\n" MG_MULTIPLY("smlad") ".endif\n" \
    ".if mg_tap == mg_taps - 1 && \\i == mg_last\n"                                     \
    ".if mg_unit == 1 && mg_taps > 1\n" MG_MULTIPLY("smlabt") ".else\n" MG_MULTIPLY("smlabb") ".endif\n" \
    ".endif\n"                                                                          \
    ".if mg_tap == -1 && \\i == 0\n" MG_MULTIPLY("smlatb") ".endif\n"                   \
    ".endr\n"                                                                           \
    ".endif\n"                                                                          \
    ".endr\n .endr\n .endr\n"                                                           \
    ".set mg_row, mg_row + 1\n"                                                         \
    ".endr\n"                                                                           \
    ".unreq begin\n"

/* Then sums to bytes: the last output first, so that lr may end one byte on where a channel has no other outputs. */
#define MG_BYTES                                                                        \
    ".if mg_words > 4\n ldr r12, [sp, #8]\n ldr lr, [sp, #12]\n .endif\n"               \
    ".if mg_once\n ldm r12!, {r1-r3}\n .else\n ldm r12, {r0-r3}\n .endif\n"             \
    ".irp j, 5, 4, 3, 2, 1, 0\n"                                                        \
    ".if \\j < mg_n\n"                                                                  \
    ".if mg_linear\n" MG_DSP_SCALE("sum\\j", "r1", "r2", "r3", "r0")                    \
    ".else\n" MG_DSP_SCALE_CLAMPED("sum\\j", "r1", "r2", "r3") ".endif\n"               \
    "ssat sum\\j, #8, sum\\j\n"                                                         \
    ".if \\j == 0 && mg_blocks == 0\n strb sum\\j, [lr], #1\n"                          \
    ".elseif \\j * mg_c < 4096\n strb sum\\j, [lr, #\\j * mg_c]\n"                      \
    ".else\n movw r0, #\\j * mg_c\n strb sum\\j, [lr, r0]\n .endif\n"                   \
    ".endif\n"                                                                          \
    ".endr\n"

#define MG_OUTPUTS(size)                                              \
    ".set mg_n, " size "\n"                                           \
    ".set mg_count, (mg_s * (mg_n - 1) + mg_taps + 1) / 2\n"

/* All channels of an output row.
 *
 * r0-r1, r8-r9, r12, lr weights; r2-r3 data; r4-r9 sums; r10 to the data, r11 to the weights, r12 finish, lr out. Where
 * there are more than four words of weights, finish and out have their place on the stack.
 * Every sum of a block begins as the last one, which begins last. */
__attribute__((naked)) static void MG_VARIANT(channels)(const int32_t *finish MCUGEN_UNUSED, const mg_s16 *ring MCUGEN_UNUSED,
                                                        int8_t *out MCUGEN_UNUSED, const int32_t *weights MCUGEN_UNUSED)
{
    __asm__(
        MG_SET("h", MG_H) MG_SET("parts", MG_PARTS) MG_SET("taps", MG_TAPS) MG_SET("words", MG_WORDS) MG_SET("s", MG_S)
        MG_SET("blocks", MG_BLOCKS) MG_SET("block", MG_BLOCK) MG_SET("tail", MG_TAIL) MG_SET("out", MG_OUT)
        MG_SET("c", MG_C) MG_SET("columns", MG_COLUMNS) MG_SET("channel", MG_CHANNEL) MG_SET("linear", MG_LINEAR)
        ".set mg_unit, 2 - mg_s % 2\n" /* taps from a word of weights to the next */
        /* the word of the last tap, where it has no pair */
        ".if mg_unit == 1 && mg_taps > 1\n .set mg_last, mg_taps - 2\n .else\n .set mg_last, (mg_taps - 1) / 2\n .endif\n"
        ".set mg_once, mg_blocks == 0 && mg_words <= 4\n" /* finish is read once for each channel */
        ".set mg_counts, mg_once && mg_words <= 2 && mg_tail <= 5\n" /* r9 is free, for the channels left */
        ".set mg_read, mg_h * mg_parts * mg_words * 4\n"
        ".set mg_behind, (mg_h - 1) * mg_parts * mg_words * 4\n"
        "sum0 .req r4\n sum1 .req r5\n sum2 .req r6\n sum3 .req r7\n sum4 .req r8\n sum5 .req r9\n"
        "data0 .req r2\n data1 .req r3\n"
        "word0 .req r0\n word1 .req r1\n word3 .req r9\n word4 .req r12\n word5 .req lr\n"
        ".if mg_words == 3\n word2 .req r9\n .else\n word2 .req r8\n .endif\n"
        "push {r4-r11, lr}\n"
        "sub sp, sp, #20\n"
        "mov r10, r1\n"
        "mov r11, r3\n"
        "mov r12, r0\n"
        "mov lr, r2\n"
        ".if mg_counts\n movw r9, #mg_c\n .else\n"
        "mov r1, r0\n" MG_STEP("add", "r1", "16 * mg_c")
        "str r1, [sp, #4]\n"
        ".endif\n"
        ".if mg_words > 4\n strd r12, lr, [sp, #8]\n .endif\n"
        "1:\n");
#if MG_BLOCKS > 0
    __asm__(
        "add r0, r10, #2 * mg_s * mg_blocks * mg_block\n"
        "str r0, [sp]\n"
        "2:\n" MG_OUTPUTS("mg_block") MG_PRODUCTS MG_BYTES
        MG_STEP("add", "lr", "mg_n * mg_c")
        ".if mg_words > 4\n str lr, [sp, #12]\n .endif\n"
        "sub r11, r11, #mg_read\n"
        "add r10, r10, #2 * mg_s * mg_n\n"
        ".if mg_blocks > 1\n ldr r0, [sp]\n cmp r10, r0\n bne 2b\n .endif\n"
        ".if mg_tail == 0\n add r11, r11, #mg_read\n .endif\n");
#endif
#if MG_TAIL > 0
    __asm__(MG_OUTPUTS("mg_tail") MG_PRODUCTS MG_BYTES);
#endif
    __asm__(
        ".if mg_blocks > 0\n" MG_STEP("sub", "lr", "mg_blocks * mg_block * mg_c - 1") ".endif\n"
        "add r10, r10, #2 * mg_channel - 2 * mg_s * mg_blocks * mg_block\n"
        "add r11, r11, #mg_behind\n"
        ".if mg_once == 0\n add r12, r12, #16\n .endif\n"
        ".if mg_words > 4\n strd r12, lr, [sp, #8]\n .endif\n"
        ".if mg_counts\n subs r9, r9, #1\n"
        ".else\n ldr r0, [sp, #4]\n cmp r12, r0\n .endif\n"
        "bne 1b\n"
        "add sp, sp, #20\n"
        "pop {r4-r11, pc}\n"
        ".irp name, sum0, sum1, sum2, sum3, sum4, sum5, data0, data1, word0, word1, word2, word3, word4, word5\n"
        ".unreq \\name\n"
        ".endr\n");
}

#undef MG_OUTPUTS
#undef MG_BYTES
#undef MG_PRODUCTS
#undef MG_MULTIPLY
#undef MG_STEP
#undef MG_SET

#else

/* The weight of tap t in the words of a part. */
static inline int32_t MG_VARIANT(weight)(const int32_t *words, uint32_t t)
{
    const uint32_t high = MG_S % 2 == 0 ? t % 2u : (uint32_t)(t > 0u);
    const int32_t word = words[MG_S % 2 == 0 ? t / 2u : t - high];
    return high != 0u ? word >> 16 : (int16_t)(uint16_t)((uint32_t)word & 0xFFFFu);
}

static inline void MG_VARIANT(channels)(const int32_t *finish, const mg_s16 *ring, int8_t *out, const int32_t *weights)
{
    for (uint32_t c = 0u; c < MG_C; c += 1u) {
        for (uint32_t x = 0u; x < MG_OUT; x += 1u) {
            uint32_t sum = (uint32_t)finish[0];
            int32_t doubled, y;
            for (uint32_t k = 0u; k < MG_H * MG_PARTS; k += 1u) {
                const mg_s16 *const data = ring + k / MG_PARTS * MG_COLUMNS + k % MG_PARTS * MG_TAPS + x * MG_S;
                for (uint32_t t = 0u; t < MG_TAPS; t += 1u) {
                    sum += (uint32_t)(data[t] * MG_VARIANT(weight)(weights + k * MG_WORDS, t));
                }
            }
            doubled = (int32_t)sum;
            y = MG_LINEAR != 0 ? mg_dsp_scale(doubled, finish[1], finish[2], finish[3])
                               : mg_dsp_scale_clamped(doubled, finish[1], finish[2], finish[3]);
            out[x * MG_C + c] = (int8_t)mg_clamp(y, -128, 127);
        }
        finish += 4;
        ring += MG_CHANNEL;
        weights += (2 * MG_H - 1) * MG_PARTS * MG_WORDS;
    }
}

#endif

/* To what an activation leaves of int8. */
static inline void MG_VARIANT(clamp)(int8_t *out, int32_t low, int32_t high)
{
#if MG_CLAMP
    for (uint32_t i = 0u; i < MG_OUT * MG_C; i += 1u) {
        out[i] = (int8_t)mg_clamp(out[i], low, high);
    }
#else
    (void)out;
    (void)low;
    (void)high;
#endif
}

#undef MG_SEEN
#undef MG_CHANNEL
#undef MG_COLUMNS
