/* SPDX-License-Identifier: Apache-2.0
 *
 * An output row of conv2d_s8_core__mve.h, eight outputs of two pixels at a time. The first two steps of both pixels
 * stay in q0 to q3.
 */
#include "mcugen/eights__mve.h"

/* Loads 16 elements of both pixels to q5 and q6, and adds their products to the sums of four outputs. */
#define MG_LOADED(row)                      \
    MG_FOUR_LOADED(MG_LOAD " q5, " MG_FIRST(row), MG_LOAD " q6, " MG_SECOND(row)) \
    ".set offset, offset + 16\n"

#define MG_SUMS(result)                       \
    MG_FOUR_HELD("", "q0", "q2")            \
    ".if steps * rows > 1\n"                \
    MG_FOUR_HELD("a", "q1", "q3")           \
    ".endif\n"                              \
    ".set offset, 32\n"                     \
    ".if steps > 2\n"                       \
    ".rept steps - 2\n"                     \
    MG_LOADED("r7")                         \
    ".endr\n"                               \
    ".endif\n"                              \
    ".set offset, 0\n"                      \
    ".if rows > 1 && steps > 1\n"           \
    ".rept steps\n"                         \
    MG_LOADED("r9")                         \
    ".endr\n"                               \
    ".endif\n"                              \
    ".set offset, 0\n"                      \
    ".if rows > 2\n"                        \
    ".rept steps\n"                         \
    MG_LOADED("r11")                        \
    ".endr\n"                               \
    ".endif\n"                              \
    MG_FOUR_SCALED(result)

/* Computes four outputs of a single pixel, whose taps are in a patch. */
#define MG_SUMS_ALONE(result)                 \
    MG_FOUR_ALONE("", "q0")                 \
    ".if steps > 1\n"                       \
    MG_FOUR_ALONE("a", "q1")                \
    ".endif\n"                              \
    ".set offset, 32\n"                     \
    ".if steps > 2\n"                       \
    ".rept steps - 2\n"                     \
    MG_LOAD " q2, " MG_FIRST("r7")          \
    MG_FOUR_ALONE("a", "q2")                \
    ".set offset, offset + 16\n"            \
    ".endr\n"                               \
    ".endif\n"                              \
    MG_FOUR_ALONE_SCALED(result)

/* Computes two pixels at a time. If the number of pixels is odd, the last pixel is computed alone with MG_ALONE, else
 * the last but one is computed twice; for a single pixel, the second result is overwritten.
 * Stack, offset from sp: 0: least output, 16: largest output, 32: zero point, 36: stream, 40: end of the stream, 44:
 * start of the last pixel's outputs, 48: out_c */
static __attribute__((naked)) void MG_VARIANT(line)(const mg_conv2d_s8__mve_params *p MCUGEN_UNUSED, const int8_t *const *rows MCUGEN_UNUSED, int8_t *out MCUGEN_UNUSED)
{
    __asm__ volatile(
        "push {r4-r11, lr}\n"
        "sub sp, sp, #4\n"
        "vpush {d8-d15}\n"
        "sub sp, sp, #56\n"
        ".set rows, " MG_ROW_COUNT "\n"
        ".set steps, " MG_TEXT(MG_STEPS) "\n"
        "ldrd r5, r6, [r0]\n"
        "ldr r4, [r0, #8]\n"
        "ldrsh r7, [r0, #14]\n"
        "vdup.8 q0, r7\n"
        "vstrb.8 q0, [sp]\n"
        "ldrsh r7, [r0, #16]\n"
        "vdup.8 q0, r7\n"
        "vstrb.8 q0, [sp, #16]\n"
        "ldrsh r7, [r0, #12]\n"
        "movw r9, #" MG_TEXT(MG_BLOCK) "\n"
        "lsr r10, r4, #2\n"
        "mla r10, r10, r9, r5\n"
        "sub r6, r6, #1\n"
        "mla r3, r6, r4, r2\n"
        "strd r7, r5, [sp, #32]\n"
        "strd r10, r3, [sp, #40]\n"
        "str r4, [sp, #48]\n"
        "ldr r7, [r1, #0]\n"
        ".if " MG_TEXT(MG_PATCHES) "\n"
        "add r7, r7, #496\n"
        "add r9, r7, #" MG_TEXT(MG_PIXEL) "\n"
        ".endif\n"
        ".if rows > 1\n"
        "ldr r9, [r1, #4]\n"
        ".endif\n"
        ".if rows > 2\n"
        "ldr r11, [r1, #8]\n"
        ".endif\n"
        "mov r1, r2\n"
        "mov r3, r2\n"
        "cmp r6, #0\n"
        "it ne\n"
        "addne r3, r3, r4\n"
        "1:\n"
        "ldr r5, [sp, #36]\n"
        ".set offset, 0\n"
        MG_LOAD " q0, " MG_FIRST("r7")
        MG_LOAD " q2, " MG_SECOND("r7")
        ".if steps > 1\n"
        ".set offset, 16\n"
        MG_LOAD " q1, " MG_FIRST("r7")
        MG_LOAD " q3, " MG_SECOND("r7")
        ".elseif rows > 1\n"
        MG_LOAD " q1, " MG_FIRST("r9")
        MG_LOAD " q3, " MG_SECOND("r9")
        ".endif\n"
        "2:\n"
        MG_SUMS("q4")
        MG_SUMS("q5")
        "ldr r0, [sp, #32]\n"
        MG_EIGHT_NARROWED("r0")
        "ldr r0, [sp, #40]\n"
        "cmp r5, r0\n"
        "blo.w 2b\n"
        "ldrd r0, r4, [sp, #44]\n"
        "mov r1, r3\n"
        "add r3, r3, r4\n"
        "addw r7, r7, #2 * " MG_TEXT(MG_PIXEL) "\n"
        ".if rows > 1 || " MG_TEXT(MG_PATCHES) "\n"
        "addw r9, r9, #2 * " MG_TEXT(MG_PIXEL) "\n"
        ".endif\n"
        ".if rows > 2\n"
        "addw r11, r11, #2 * " MG_TEXT(MG_PIXEL) "\n"
        ".endif\n"
        "cmp r1, r0\n"
        "blo.w 1b\n"
        "bne 6f\n"
        ".if " MG_TEXT(MG_ALONE) "\n"
        "ldr r5, [sp, #36]\n"
        ".set offset, 0\n"
        MG_LOAD " q0, " MG_FIRST("r7")
        ".set offset, 16\n"
        ".if steps > 1\n"
        MG_LOAD " q1, " MG_FIRST("r7")
        ".endif\n"
        "3:\n"
        MG_SUMS_ALONE("q4")
        MG_SUMS_ALONE("q5")
        "ldr r0, [sp, #32]\n"
        MG_EIGHT_BYTES("r0")
        "vstrh.32 q4, [r1], #8\n"
        "ldr r0, [sp, #40]\n"
        "cmp r5, r0\n"
        "blo.w 3b\n"
        ".else\n"
        "sub r1, r1, r4\n"
        "sub r3, r3, r4\n"
        "subw r7, r7, #" MG_TEXT(MG_PIXEL) "\n"
        "subw r9, r9, #" MG_TEXT(MG_PIXEL) "\n"
        "subw r11, r11, #" MG_TEXT(MG_PIXEL) "\n"
        "b.w 1b\n"
        ".endif\n"
        "6:\n"
        "add sp, sp, #56\n"
        "vpop {d8-d15}\n"
        "add sp, sp, #4\n"
        "pop {r4-r11, pc}\n");
}
#undef MG_SUMS
#undef MG_SUMS_ALONE
#undef MG_LOADED
