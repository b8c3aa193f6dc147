/* SPDX-License-Identifier: Apache-2.0
 *
 * Part of depthwise_conv2d_s8_taps__mve.h: pixels whose windows are inside the image; their taps are read directly.
 */
#define MG_NEAR_SIZES                                   \
    ".set rows, " MG_TEXT(MG_ROWS) "\n"                 \
    ".set columns, " MG_TEXT(MG_COLUMNS) "\n"           \
    ".set channels, " MG_TEXT(MG_CHANNELS) "\n"         \
    ".set apart, " MG_TEXT(MG_APART) "\n"               \
    ".set lasts, " MG_TEXT(MG_LASTS) "\n"               \
    ".set back, 16 - (columns - 1) * apart\n"           \
    ".if channels < 16\n"                               \
    ".set full, 1\n"                                    \
    ".set repeated, 0\n"                                \
    ".else\n"                                           \
    ".set full, channels / 16\n"                        \
    ".set repeated, (16 - channels % 16) % 16\n"        \
    ".endif\n"

/* Adds or subtracts `by` bytes to all row pointers. */
#define MG_MOVE(op, by)                                 \
    ".set row, 0\n"                                     \
    ".irp at, r4, r6, r8, r9, r10\n"                    \
    ".if row < rows\n"                                  \
    op " \\at, \\at, #" by "\n"                         \
    ".endif\n"                                          \
    ".set row, row + 1\n"                               \
    ".endr\n"

/* Loads a tap of a row to q6. The row's pointer moves to the next tap; behind the last tap, to the first tap of the
 * next block. */
#define MG_TAP                                          \
    ".if column + 1 < columns\n"                        \
    "vldrb.u8 q6, [\\at], #apart\n"                     \
    ".elseif back >= -127\n"                            \
    "vldrb.u8 q6, [\\at], #back\n"                      \
    ".else\n"                                           \
    "vldrb.u8 q6, [\\at]\n"                             \
    "subw \\at, \\at, #-back\n"                         \
    ".endif\n"

/* The first 16-bit sums initialize the 32-bit sums. */
#define MG_WIDEN_FIRST                                  \
    "vmovlb.s16 q0, q4\n"                               \
    "vmovlt.s16 q1, q4\n"                               \
    "vmovlb.s16 q2, q5\n"                               \
    "vmovlt.s16 q3, q5\n"

/* Multiplies one tap. If no vector register is free, the product overwrites the input, which is loaded again. */
#define MG_NEAR_TAP                                     \
    ".if begun && tap > first\n"                        \
    "vldrb.u8 q6, [\\at]\n"                             \
    ".else\n"                                           \
    MG_TAP                                              \
    ".endif\n"                                          \
    "vldrb.u8 q7, [r5], #16\n"                          \
    ".if !begun\n"                                      \
    "vmullb.s8 q4, q6, q7\n"                            \
    "vmullt.s8 q5, q6, q7\n"                            \
    ".elseif tap > first\n"                             \
    "vmullb.s8 q6, q6, q7\n"                            \
    "vadd.i16 q4, q4, q6\n"                             \
    MG_TAP                                              \
    "vmullt.s8 q6, q6, q7\n"                            \
    "vadd.i16 q5, q5, q6\n"                             \
    ".else\n"                                           \
    "vmullb.s8 q0, q6, q7\n"                            \
    "vadd.i16 q4, q4, q0\n"                             \
    "vmullt.s8 q0, q6, q7\n"                            \
    "vadd.i16 q5, q5, q0\n"                             \
    ".endif\n"                                          \
    ".set begun, 1\n"                                   \
    ".if (lasts >> tap) & 1\n"                          \
    ".if tap > first\n"                                 \
    MG_WIDEN_ALL                                        \
    ".else\n"                                           \
    MG_WIDEN_FIRST                                      \
    ".endif\n"                                          \
    ".set begun, 0\n"                                   \
    ".if first == 99\n"                                 \
    ".set first, tap\n"                                 \
    ".endif\n"                                          \
    ".endif\n"

/* Computes the sums of a block. r5 moves from the block's weights to its multipliers. first: the last tap of the first
 * 16-bit sum. */
#define MG_NEAR_SUMS                                    \
    ".set first, 99\n"                                  \
    ".set begun, 0\n"                                   \
    ".set tap, 0\n"                                     \
    ".set row, 0\n"                                     \
    ".irp at, r4, r6, r8, r9, r10\n"                    \
    ".if row < rows\n"                                  \
    ".set column, 0\n"                                  \
    ".rept columns\n"                                   \
    MG_NEAR_TAP                                         \
    ".set tap, tap + 1\n"                               \
    ".set column, column + 1\n"                         \
    ".endr\n"                                           \
    ".endif\n"                                          \
    ".set row, row + 1\n"                               \
    ".endr\n"

#define MG_BIAS(sum, with, place)                       \
    "vldrw.u32 " with ", [r5, #" place " - 64 - 16 * rows * columns]\n" \
    "vadd.i32 " sum ", " sum ", " with "\n"

/* Computes `count` times 16 lanes; with more than 16 channels, `count` pixels. at: bytes from the start of the rows to
 * the first window.
 * r0, r1: least and largest output, r3: full blocks left, r4, r6, r8-r10: row pointers, r11: first weights */
static __attribute__((naked)) void MG_VARIANT(near)(const mg_depthwise_conv2d_s8__mve_taps_params *p MCUGEN_UNUSED, const int8_t *const *rows MCUGEN_UNUSED, int8_t *out MCUGEN_UNUSED, uint32_t at MCUGEN_UNUSED, uint32_t count MCUGEN_UNUSED)
{
    __asm__ volatile(
        "push {r4-r11, lr}\n"
        "ldr lr, [sp, #36]\n"
        "sub sp, sp, #4\n"
        "vpush {d8-d15}\n"
        MG_NEAR_SIZES
        ".set row, 0\n"
        ".irp at, r4, r6, r8, r9, r10\n"
        ".if row < rows\n"
        "ldr \\at, [r1], #4\n"
        "add \\at, \\at, r3\n"
        ".endif\n"
        ".set row, row + 1\n"
        ".endr\n"
        "ldr r11, [r0]\n"
        "add r11, r11, #64\n"
        "ldrsh r7, [r0, #12]\n"
        "ldrsh r1, [r0, #16]\n"
        "ldrsh r0, [r0, #14]\n"
        "1:\n"
        "mov r5, r11\n"
        ".if full > 1 || repeated\n"
        "mov r3, #full\n"
        "2:\n"
        ".endif\n"
        MG_NEAR_SUMS
        MG_BIAS("q0", "q4", "0")
        MG_BIAS("q1", "q5", "16")
        MG_BIAS("q2", "q6", "32")
        MG_BIAS("q3", "q7", "48")
        MG_SIXTEEN("16 + 64", "r0", "r1")
        "vstrb.8 q0, [r2], #16\n"
        ".if full > 1 || repeated\n"
        "subs r3, r3, #1\n"
        "bgt 2b\n"
        ".endif\n"
        ".if repeated\n"
        "bmi 3f\n"
        MG_MOVE("sub", "repeated")
        "sub r2, r2, #repeated\n"
        "b 2b\n"
        "3:\n"
        ".endif\n"
        ".if " MG_TEXT(MG_STRIDE) " > 1\n"
        MG_MOVE("addw", "(" MG_TEXT(MG_STRIDE) " - 1) * channels")
        ".endif\n"
        "le lr, 1b\n"
        "vpop {d8-d15}\n"
        "add sp, sp, #4\n"
        "pop {r4-r11, pc}\n");
}
#undef MG_NEAR_SIZES
#undef MG_MOVE
#undef MG_TAP
#undef MG_WIDEN_FIRST
#undef MG_NEAR_TAP
#undef MG_NEAR_SUMS
#undef MG_BIAS
