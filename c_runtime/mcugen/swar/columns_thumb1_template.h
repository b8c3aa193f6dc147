/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: the kernel of depthwise_conv2d_s8__columns_template.h in assembly for Arm cores with only Thumb-1
 * (Armv6-M).
 */

/* Adds the number of channels to a pointer; other: a register that is free. */
#define MG_NEXT(pointer, other)                                                           \
    ".if " MG_TEXT(MG_CHANNELS) " < 256\n adds " pointer ", #" MG_TEXT(MG_CHANNELS) "\n"    \
    ".else\n ldr " other ", [sp, #20]\n adds " pointer ", " pointer ", " other "\n .endif\n"

/* Adds tap * weight to a sum. MG_ADD keeps the tap in r2, MG_ADD_LAST does not. */
#define MG_ADD(weight, sum) "movs r3, r2\n muls r3, " weight ", r3\n add " sum ", r3\n"
#define MG_ADD_LAST(weight, sum) "muls r2, " weight ", r2\n add " sum ", r2\n"

/* Adds column c of the windows, counted from the padding, to the outputs whose tap 2, 1 or 0 it is. */
#define MG_COLUMN(c, two, one, zero)                                                                      \
    ".if " #c " >= " MG_TEXT(MG_LEFT) "\n .if " #c " + " MG_TEXT(MG_RIGHT) " < " MG_TEXT(MG_OUTPUTS) " + 2\n" \
    "ldrsb r2, [r0, r7]\n"                                                                                \
    ".if " #c " > " MG_TEXT(MG_OUTPUTS) "\n" MG_ADD_LAST("r6", two) ".else\n"                              \
    ".if " #c " >= 2\n" MG_ADD("r6", two) ".endif\n"                                                       \
    ".if " #c " == " MG_TEXT(MG_OUTPUTS) "\n" MG_ADD_LAST("r5", one) ".else\n"                             \
    ".if " #c " >= 1\n" MG_ADD("r5", one) ".endif\n" MG_ADD_LAST("r4", zero) ".endif\n .endif\n"            \
    ".if " #c " + " MG_TEXT(MG_RIGHT) " < " MG_TEXT(MG_OUTPUTS) " + 1\n" MG_NEXT("r0", "r3") ".endif\n"     \
    ".endif\n .endif\n"

#define MG_ROW(i)                                                                                      \
    "ldr r0, [sp, #" i "]\n ldmia r1!, {r4, r5, r6}\n"                                                  \
    MG_COLUMN(0, "r8", "r8", "r8") MG_COLUMN(1, "r8", "r8", "r9") MG_COLUMN(2, "r8", "r9", "r10")        \
    MG_COLUMN(3, "r9", "r10", "r11") MG_COLUMN(4, "r10", "r11", "r12") MG_COLUMN(5, "r11", "r12", "lr")  \
    MG_COLUMN(6, "r12", "lr", "lr") MG_COLUMN(7, "lr", "lr", "lr")

/* Sets the sum of output k, which is not the first, to its bias: r4 for the last output, r3 for others. */
#define MG_BIAS(k, sum)                                                                               \
    ".if " #k " < " MG_TEXT(MG_OUTPUTS) "\n .if " #k " + 1 == " MG_TEXT(MG_OUTPUTS) "\n mov " sum ", r4\n" \
    ".else\n mov " sum ", r3\n .endif\n .endif\n"

/* Scales and stores output k. r2: high, r3: rounding, r4: low, r5: shift, r7: output */
#define MG_OUTPUT(k, sum)                                                                      \
    ".if " #k " < " MG_TEXT(MG_OUTPUTS) "\n mov r0, " sum "\n movs r6, r0\n"                    \
    "muls r0, r4, r0\n asrs r0, r0, #13\n muls r6, r2, r6\n adds r0, r0, r6\n adds r0, r0, r3\n" \
    "asrs r0, r0, r5\n cmp r0, #" MG_TEXT(MG_SPAN) "\n bls 8f\n asrs r0, r0, #31\n mvns r0, r0\n" \
    ".if " MG_TEXT(MG_SPAN) " < 255\n movs r6, #" MG_TEXT(MG_SPAN) "\n ands r0, r0, r6\n .endif\n" \
    "8: adds r0, #((" MG_TEXT(MG_LEAST) " + 128) & 255)\n strb r0, [r7]\n"                       \
    ".if " #k " + 1 < " MG_TEXT(MG_OUTPUTS) "\n" MG_NEXT("r7", "r6") ".endif\n .endif\n"

/* r0: column, r1: stream, r2: tap, r3: product, r4-r6: weights, r7: channel, r8-r12, lr: sums
 * Stack: three rows, out, channel, number of channels */
__attribute__((naked)) MG_LINKAGE void MG_KERNEL(MCUGEN_UNUSED const mg_columns_s8_params *p,
                                                 MCUGEN_UNUSED const int8_t *const *rows, MCUGEN_UNUSED uint32_t y,
                                                 MCUGEN_UNUSED int8_t *out)
{
    __asm__(".syntax unified\n"
            "push {r4, r5, r6, r7, lr}\n"
            "mov r4, r8\n mov r5, r9\n mov r6, r10\n mov r7, r11\n"
            "push {r4, r5, r6, r7}\n"
            "movs r5, #(" MG_TEXT(MG_CHANNELS) " >> 8)\n lsls r5, r5, #8\n adds r5, #(" MG_TEXT(MG_CHANNELS) " & 255)\n"
            "push {r3, r4, r5}\n"
            "ldmia r1!, {r4, r5, r6}\n push {r4, r5, r6}\n"
            "ldr r1, [r0]\n movs r7, #0\n"
            "1: ldmia r1!, {r2, r3, r4}\n mov r8, r2\n"
            MG_BIAS(1, "r9") MG_BIAS(2, "r10") MG_BIAS(3, "r11") MG_BIAS(4, "r12") MG_BIAS(5, "lr")
            MG_ROW("0") MG_ROW("4") MG_ROW("8")
            "str r7, [sp, #16]\n ldmia r1!, {r2, r3, r4}\n lsrs r5, r4, #16\n uxth r4, r4\n"
            "ldr r6, [sp, #12]\n adds r7, r7, r6\n"
            MG_OUTPUT(0, "r8") MG_OUTPUT(1, "r9") MG_OUTPUT(2, "r10") MG_OUTPUT(3, "r11") MG_OUTPUT(4, "r12")
            MG_OUTPUT(5, "lr")
            "ldr r7, [sp, #16]\n adds r7, #1\n"
            ".if " MG_TEXT(MG_CHANNELS) " < 256\n cmp r7, #" MG_TEXT(MG_CHANNELS) "\n"
            ".else\n ldr r6, [sp, #20]\n cmp r7, r6\n .endif\n beq 2f\n b 1b\n"
            "2: add sp, #24\n"
            "pop {r4, r5, r6, r7}\n"
            "mov r8, r4\n mov r9, r5\n mov r10, r6\n mov r11, r7\n"
            "pop {r4, r5, r6, r7, pc}\n");
}

#undef MG_NEXT
#undef MG_ADD
#undef MG_ADD_LAST
#undef MG_COLUMN
#undef MG_ROW
#undef MG_BIAS
#undef MG_OUTPUT
