/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: depthwise convolution on planar rows: int16, channel by channel, the ring's rows of a channel contiguous.
 *
 * MG_H        kernel rows, each of MG_PARTS parts of MG_TAPS taps
 * MG_WORDS    words that hold the weights of a part
 * MG_S        stride
 * MG_LINEAR   how sums are scaled, by a form of dsp_requantize.h: 0: _clamped; 1: the general form; 2: _once;
 *             3: _float; 4: _alike, with the shift MG_SHIFT for all channels
 * MG_BLOCKS   an output row is MG_BLOCKS blocks of MG_BLOCK outputs, then MG_TAIL outputs; the sums of a block are in
 *             registers
 * MG_ANY      1: the numbers of columns and outputs are arguments, MG_BLOCKS is 2 and MG_TAIL is 0
 * MG_SLICED   1: only `count` channels are computed, and the weights hold kernel rows 0 .. MG_H - 1; 0: all channels,
 *             and kernel rows 0 .. MG_H - 1, 0 .. MG_H - 2, see planar_s8.h
 */
#include "mcugen/dsp_requantize.h"

#if MG_SLICED
#define MG_WEIGHT_ROWS MG_H
#define MG_COUNT , uint32_t count MCUGEN_UNUSED
#define MG_COUNTED count
#else
#define MG_WEIGHT_ROWS (2 * MG_H - 1)
#define MG_COUNT
#define MG_COUNTED channels
#endif
#if MG_ANY
#define MG_OUT outputs
#define MG_COLUMNS columns
#define MG_SIZES , uint32_t columns MCUGEN_UNUSED, uint32_t outputs MCUGEN_UNUSED
#define MG_CONSTANT(n) 0
#else
#define MG_OUT (MG_BLOCKS * MG_BLOCK + MG_TAIL)
#define MG_COLUMNS ((MG_S * (MG_OUT - 1) + MG_PARTS * MG_TAPS + 1) / 2 * 2)
#define MG_SIZES
#define MG_CONSTANT(n) n
#endif
#define MG_CHANNEL (MG_H * MG_COLUMNS)

#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)

#define MG_SET(name, value) ".set mg_" name ", " MG_TEXT(value) "\n"

/* d += value or d -= value, for any constant; r2 is clobbered. */
#define MG_STEP(op, d, value)                                              \
    ".if (" value ") == 0\n"                                              \
    ".elseif (" value ") < 4096\n" op " " d ", " d ", #" value "\n"        \
    ".else\n movw r2, #(" value ") & 65535\n movt r2, #(" value ") >> 16\n" \
    op " " d ", " d ", r2\n .endif\n"

/* Sets symbols that depend on the number of outputs. mg_count: words of data for one part of a kernel row.
 * mg_last_load: byte offset of the last load of data. */
#define MG_OUTPUTS(size)                                                                                   \
    ".set mg_n, " size "\n"                                                                                \
    ".set mg_count, (mg_s * (mg_n - 1) + mg_taps + 1) / 2\n"                                               \
    ".set mg_last_load, 2 * ((mg_h - 1) * mg_columns + (mg_parts - 1) * mg_taps) + (mg_count - 1) / 2 * 8\n"

/* mg_data_moves: 1 if the last load of data also advances the data pointer. mg_data_at: bytes from a channel's first
 * data to where the pointer points: the data of the last load, if load offsets reach that far; else 0. */
#define MG_REACH                                                                                                      \
    ".set mg_data_at, 0\n"                                                                                            \
    ".if mg_any == 0\n"                                                                                              \
    ".if mg_count % 2 == 0 && mg_last_load <= 1020 && mg_data_step <= 1020\n .set mg_data_at, mg_last_load\n .endif\n" \
    ".if mg_count % 2 && mg_last_load <= 255 && mg_data_step <= 255\n .set mg_data_at, mg_last_load\n .endif\n"       \
    ".endif\n"                                                                                                       \
    ".set mg_data_moves, mg_any == 0 && (mg_data_at == mg_last_load) && (mg_data_at > 0 || mg_data_step <= 255)\n"

/* sum j += data p * weights i. The first product of an output adds `begin`, the initial sum. */
#define MG_MULTIPLY(op)                                                                 \
    ".if mg_row == 0 && mg_tap < 1\n" op " sum\\j, data\\p, word\\i, begin\n"           \
    ".else\n" op " sum\\j, data\\p, word\\i, sum\\j\n .endif\n"

/* Loads one or two words of data. The last load may advance the data pointer. */
#define MG_LOAD_DATA                                                                                         \
    ".set mg_moves, mg_may_move && mg_data_moves && mg_row == mg_h * mg_parts - 1 && 2 * \\u + 2 >= mg_count\n" \
    ".if 2 * \\u + 1 == mg_count\n"                                                                          \
    ".if mg_moves\n ldr data0, [r10], #mg_data_step\n"                                                        \
    ".elseif mg_at < -255\n ldrd data0, data1, [r10, #mg_at]\n"                                             \
    ".else\n ldr data0, [r10, #mg_at]\n .endif\n"                                                          \
    ".elseif 2 * \\u + 1 < mg_count\n"                                                                       \
    ".if mg_moves\n ldrd data0, data1, [r10], #mg_data_step\n"                                               \
    ".elseif mg_at <= 1020\n ldrd data0, data1, [r10, #mg_at]\n"                                             \
    ".else\n ldr data0, [r10, #mg_at]\n ldr data1, [r10, #mg_at + 4]\n .endif\n"                             \
    ".endif\n"

/* Loads the weights of a part. */
#define MG_LOAD_WEIGHTS                                                                                       \
    ".if mg_fixed\n"                                                                                          \
    ".set mg_at, mg_words * 4 * mg_row - mg_weights_at\n"                                                     \
    ".if mg_weights_move && mg_row == mg_h * mg_parts - 1\n"                                                    \
    ".if mg_words == 1\n ldr r0, [r11], #mg_weights_step\n .else\n ldrd r0, r1, [r11], #mg_weights_step\n .endif\n" \
    ".elseif mg_words == 1\n ldr r0, [r11, #mg_at]\n .else\n ldrd r0, r1, [r11, #mg_at]\n .endif\n"           \
    ".elseif mg_words == 1\n ldr r0, [r11], #4\n"                                                             \
    ".elseif mg_words == 2\n ldm r11!, {r0, r1}\n"                                                            \
    ".elseif mg_words == 3\n ldm r11!, {r0, r1, r9}\n"                                                        \
    ".elseif mg_words == 4\n ldm r11!, {r0, r1, r8, r9}\n"                                                    \
    ".elseif mg_words == 5\n ldm r11!, {r0, r1, r8, r9, r12}\n"                                               \
    ".else\n ldm r11!, {r0, r1, r8, r9, r12, lr}\n .endif\n"

/* Computes the sums of mg_n outputs of a channel, kernel row by kernel row. */
#define MG_PRODUCTS                                                                     \
    ".irp j, 0, 1, 2, 3, 4, 5\n"                                                        \
    ".if \\j == mg_n - 1\n"                                                             \
    "begin .req sum\\j\n"                                                               \
    ".endif\n"                                                                          \
    ".endr\n"                                                                           \
    ".if mg_words > 4\n ldr r12, [sp, #12]\n .endif\n"                                  \
    ".if mg_once\n ldr begin, [r12], #4\n .else\n ldr begin, [r12]\n .endif\n"          \
    ".set mg_row, 0\n"                                                                  \
    ".rept mg_h * mg_parts\n" MG_LOAD_WEIGHTS                                           \
    ".if mg_any && mg_row > 0 && mg_row % mg_parts == 0\n ldr r2, [sp, #28]\n add r10, r10, r2\n .endif\n" \
    ".set mg_base, 2 * (mg_row / mg_parts * mg_columns + mg_row % mg_parts * mg_taps) - mg_data_at\n" \
    ".irp u, 0, 1, 2, 3, 4, 5, 6, 7\n"                                                  \
    ".set mg_at, mg_base + 8 * \\u\n" MG_LOAD_DATA                                      \
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

/* Scales the sums to bytes. */
#define MG_BYTES                                                                        \
    ".if mg_words > 4\n ldrd r12, lr, [sp, #12]\n .endif\n"                             \
    ".if mg_once\n ldm r12!, {r1-r3}\n .else\n ldm r12, {r0-r3}\n .endif\n"             \
    ".irp j, 0, 1, 2, 3, 4, 5\n"                                                        \
    ".if \\j < mg_n\n"                                                                  \
    ".if mg_linear == 4\n" MG_DSP_SCALE_ALIKE("sum\\j", "r1", "r2", MG_TEXT(MG_SHIFT))  \
    ".else\n"                                                                          \
    ".if mg_linear == 3\n" MG_DSP_SCALE_FLOAT("sum\\j", "r1", "r2")                    \
    ".elseif mg_linear == 2\n" MG_DSP_SCALE_ONCE("sum\\j", "r1", "r2", "r3")            \
    ".elseif mg_linear\n" MG_DSP_SCALE("sum\\j", "r1", "r2", "r3", "r0")                \
    ".else\n" MG_DSP_SCALE_CLAMPED("sum\\j", "r1", "r2", "r3") ".endif\n"               \
    "ssat sum\\j, #8, sum\\j\n"                                                         \
    ".endif\n .endif\n"                                                                 \
    ".endr\n"

/* Stores the outputs. channels: register with the bytes from an output to the next; r2 is clobbered. */
#define MG_STORE(channels)                                                              \
    ".if mg_n > 3\n add r2, lr, " channels "\n .endif\n"                                \
    ".if mg_n > 1\n strb sum1, [lr, " channels "]\n .endif\n"                           \
    ".if mg_n > 2\n strb sum2, [lr, " channels ", lsl #1]\n .endif\n"                   \
    ".if mg_n > 3\n strb sum3, [r2, " channels ", lsl #1]\n .endif\n"                   \
    ".if mg_n > 4\n strb sum4, [lr, " channels ", lsl #2]\n .endif\n"                   \
    ".if mg_n > 5\n strb sum5, [r2, " channels ", lsl #2]\n .endif\n"                   \
    ".if mg_blocks == 0\n strb sum0, [lr], #1\n .else\n strb sum0, [lr]\n .endif\n"

/* Computes all channels of an output row.
 *
 * r0-r1, r8-r9, r12, lr: weights
 * r2-r3: data
 * r4-r9: sums; the initial sum is in the register of the block's last sum, whose first product comes last
 * r10: data pointer, r11: pointer to weights
 * r12: finish, lr: out; with more than four words of weights these are on the stack
 * Stack, offset from sp:
 *   0   channels
 *   4   bytes of a block's outputs; if MG_BLOCKS is 0, end of finish
 *   8   end of the blocks' data
 *   12  finish
 *   16  out
 *   20  end of finish
 *   24  bytes from the next channel's outputs to the end of the blocks' outputs
 * Only if MG_ANY:
 *   28  bytes from a kernel row to the next
 *   32  bytes from the last kernel row to the first one of the next block
 *   36  bytes of all blocks' data
 *   40  bytes from the end of the blocks' data to the next channel */
__attribute__((naked)) static void MG_VARIANT(channels)(const int32_t *finish MCUGEN_UNUSED, const mg_s16 *ring MCUGEN_UNUSED,
                                                        int8_t *out MCUGEN_UNUSED, const int32_t *weights MCUGEN_UNUSED,
                                                        uint32_t channels MCUGEN_UNUSED MG_SIZES MG_COUNT)
{
    __asm__(
        MG_SET("h", MG_H) MG_SET("parts", MG_PARTS) MG_SET("taps", MG_TAPS) MG_SET("words", MG_WORDS) MG_SET("s", MG_S)
        MG_SET("blocks", MG_BLOCKS) MG_SET("block", MG_BLOCK) MG_SET("tail", MG_TAIL)
        MG_SET("any", MG_ANY) MG_SET("columns", MG_CONSTANT(MG_COLUMNS)) MG_SET("channel", MG_CONSTANT(MG_CHANNEL)) MG_SET("linear", MG_LINEAR)
        MG_SET("sliced", MG_SLICED) MG_SET("weight_rows", MG_WEIGHT_ROWS)
        ".set mg_unit, 2 - mg_s % 2\n" /* mg_unit: number of taps from a word of weights to the next */
        /* mg_last: index of the word of weights with the last tap, if it has no partner */
        ".if mg_unit == 1 && mg_taps > 1\n .set mg_last, mg_taps - 2\n .else\n .set mg_last, (mg_taps - 1) / 2\n .endif\n"
        ".set mg_once, mg_blocks == 0 && mg_words <= 4\n" /* mg_once: finish is read once per channel */
        ".set mg_counts, mg_once && mg_words <= 2 && mg_tail <= 5\n" /* mg_counts: r9 counts the channels */
        ".set mg_holds, mg_counts && mg_tail <= 4\n"                 /* mg_holds: r8 holds `channels` */
        ".set mg_read, mg_h * mg_parts * mg_words * 4\n"
        ".set mg_weights_step, mg_weight_rows * mg_parts * mg_words * 4\n"
        ".set mg_fixed, mg_words <= 2 && mg_read <= 1020\n" /* mg_fixed: weights have constant offsets from r11 */
        ".set mg_weights_move, mg_fixed && mg_once && mg_weights_step <= 255 * mg_words * mg_words\n"
        ".set mg_weights_at, 0\n"
        ".if mg_weights_move\n .set mg_weights_at, mg_read - mg_words * 4\n .endif\n"
        ".if mg_blocks\n" MG_OUTPUTS("mg_block") ".set mg_data_step, 2 * mg_s * mg_block\n"
        ".else\n" MG_OUTPUTS("mg_tail") ".set mg_data_step, 2 * mg_channel\n .endif\n" MG_REACH);
    __asm__(
        "sum0 .req r4\n sum1 .req r5\n sum2 .req r6\n sum3 .req r7\n sum4 .req r8\n sum5 .req r9\n"
        "data0 .req r2\n data1 .req r3\n"
        "word0 .req r0\n word1 .req r1\n word3 .req r9\n word4 .req r12\n word5 .req lr\n"
        ".if mg_words == 3\n word2 .req r9\n .else\n word2 .req r8\n .endif\n"
        "push {r4-r11, lr}\n"
        "sub sp, sp, #28 + 16 * mg_any\n"
        "add r10, r1, #mg_data_at\n"
        "add r11, r3, #mg_weights_at\n"
        "mov r12, r0\n"
        "mov lr, r2\n"
        "ldr r1, [sp, #64 + 16 * mg_any]\n"
        ".if mg_sliced\n"
        "ldr r9, [sp, #68 + 24 * mg_any]\n"
        "add r2, r0, r9, lsl #4\n"
        ".else\n"
        "add r2, r0, r1, lsl #4\n"
        ".if mg_counts\n mov r9, r1\n .endif\n"
        ".endif\n"
        ".if mg_holds\n mov r8, r1\n .endif\n"
        ".if mg_blocks\n"
        "movs r3, #mg_block\n muls r3, r1, r3\n strd r1, r3, [sp]\n"
        ".if mg_any\n"
        "ldrd r4, r5, [sp, #84]\n"                     /* columns, outputs */
        "lsl r4, r4, #1\n"
        "movs r3, #2 * mg_s\n mul r6, r5, r3\n"        /* bytes of all blocks' data */
        "movs r3, #mg_h\n mul r7, r4, r3\n sub r7, r7, r6\n"
        "movs r3, #mg_h - 1\n mul r3, r4, r3\n rsb r3, r3, #mg_data_step\n"
        "strd r4, r3, [sp, #28]\n strd r6, r7, [sp, #36]\n"
        "mul r3, r5, r1\n sub r3, r3, #1\n"
        ".else\n movw r0, #mg_blocks\n mul r3, r0, r3\n sub r3, r3, #1\n .endif\n"
        "strd r2, r3, [sp, #20]\n"
        ".else\n strd r1, r2, [sp]\n .endif\n"
        ".if mg_words > 4\n strd r12, lr, [sp, #12]\n .endif\n"
        "1:\n");
#if MG_BLOCKS > 0
    __asm__(
        ".if mg_any\n ldr r0, [sp, #36]\n add r0, r10, r0\n str r0, [sp, #8]\n"
        ".elseif mg_blocks > 1\n add r0, r10, #mg_data_step * mg_blocks\n str r0, [sp, #8]\n .endif\n"
        ".set mg_may_move, 1\n"
        "2:\n" MG_PRODUCTS MG_BYTES
        ".if mg_blocks > 1\n ldm sp, {r0, r1, r3}\n .else\n ldrd r0, r1, [sp]\n .endif\n" MG_STORE("r0")
        "add lr, lr, r1\n"
        ".if mg_words > 4\n str lr, [sp, #16]\n .endif\n"
        ".if mg_fixed == 0\n" MG_STEP("sub", "r11", "mg_read") ".endif\n"
        ".if mg_any\n ldr r2, [sp, #32]\n add r10, r10, r2\n"
        ".elseif mg_data_moves == 0\n add r10, r10, #mg_data_step\n .endif\n"
        ".if mg_blocks > 1\n cmp r10, r3\n bne 2b\n .endif\n");
#if MG_TAIL > 0
    __asm__(
        MG_OUTPUTS("mg_tail")
        ".set mg_may_move, 0\n" MG_PRODUCTS MG_BYTES "ldr r0, [sp]\n" MG_STORE("r0"));
#endif
    __asm__(
        "ldrd r0, r1, [sp, #20]\n"
        "sub lr, lr, r1\n"
        ".if mg_any\n ldr r2, [sp, #40]\n add r10, r10, r2\n"
        ".else\n" MG_STEP("add", "r10", "2 * mg_channel - mg_data_step * mg_blocks") ".endif\n"
        ".if mg_fixed == 0 && mg_tail\n" MG_STEP("add", "r11", "mg_weights_step - mg_read")
        ".else\n" MG_STEP("add", "r11", "mg_weights_step") ".endif\n"
        "add r12, r12, #16\n"
        ".if mg_words > 4\n strd r12, lr, [sp, #12]\n .endif\n"
        "cmp r12, r0\n");
#else
    __asm__(
        ".set mg_may_move, 1\n" MG_PRODUCTS MG_BYTES
        ".if mg_holds\n" MG_STORE("r8")
        ".elseif mg_counts\n ldr r0, [sp]\n" MG_STORE("r0")
        ".else\n ldrd r0, r1, [sp]\n" MG_STORE("r0") ".endif\n"
        ".if mg_data_moves == 0\n" MG_STEP("add", "r10", "2 * mg_channel") ".endif\n"
        ".if mg_weights_move == 0\n"
        ".if mg_fixed\n" MG_STEP("add", "r11", "mg_weights_step") ".else\n" MG_STEP("add", "r11", "mg_weights_step - mg_read")
        ".endif\n .endif\n"
        ".if mg_once == 0\n add r12, r12, #16\n .endif\n"
        ".if mg_words > 4\n strd r12, lr, [sp, #12]\n .endif\n"
        ".if mg_counts\n subs r9, r9, #1\n .else\n cmp r12, r1\n .endif\n");
#endif
    __asm__(
        "bne 1b\n"
        "add sp, sp, #28 + 16 * mg_any\n"
        "pop {r4-r11, pc}\n"
        ".irp name, sum0, sum1, sum2, sum3, sum4, sum5, data0, data1, word0, word1, word2, word3, word4, word5\n"
        ".unreq \\name\n"
        ".endr\n");
}

#undef MG_STORE
#undef MG_BYTES
#undef MG_PRODUCTS
#undef MG_LOAD_WEIGHTS
#undef MG_LOAD_DATA
#undef MG_MULTIPLY
#undef MG_REACH
#undef MG_OUTPUTS
#undef MG_STEP
#undef MG_SET

#else

/* Weight of tap t of a part. words: the part's weights. */
static inline int32_t MG_VARIANT(weight)(const int32_t *words, uint32_t t)
{
    const uint32_t high = MG_S % 2 == 0 ? t % 2u : (uint32_t)(t > 0u);
    const int32_t word = words[MG_S % 2 == 0 ? t / 2u : t - high];
    return high != 0u ? word >> 16 : (int16_t)(uint16_t)((uint32_t)word & 0xFFFFu);
}

static inline void MG_VARIANT(channels)(const int32_t *finish, const mg_s16 *ring, int8_t *out, const int32_t *weights,
                                        uint32_t channels MG_SIZES MG_COUNT)
{
    for (uint32_t c = 0u; c < MG_COUNTED; c += 1u) {
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
            y = MG_LINEAR == 4   ? mg_dsp_scale_once(doubled, finish[1], finish[2], MG_SHIFT)
                : MG_LINEAR == 3 ? mg_dsp_scale_float(doubled, finish[1], finish[2])
                : MG_LINEAR == 2 ? mg_dsp_scale_once(doubled, finish[1], finish[2], finish[3])
                : MG_LINEAR != 0 ? mg_dsp_scale(doubled, finish[1], finish[2], finish[3])
                                 : mg_dsp_scale_clamped(doubled, finish[1], finish[2], finish[3]);
            out[x * channels + c] = (int8_t)mg_clamp(y, -128, 127);
        }
        finish += 4;
        ring += MG_CHANNEL;
        weights += MG_WEIGHT_ROWS * MG_PARTS * MG_WORDS;
    }
}

#endif

#undef MG_CONSTANT
#undef MG_SIZES
#undef MG_COUNTED
#undef MG_COUNT
#undef MG_WEIGHT_ROWS
