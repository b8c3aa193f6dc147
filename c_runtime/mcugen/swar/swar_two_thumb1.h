/* SPDX-License-Identifier: Apache-2.0
 *
 * Assembly of swar_two.h for Arm cores with only Thumb-1 (Armv6-M).
 */
#ifndef MCUGEN_SWAR_TWO_THUMB1_H
#define MCUGEN_SWAR_TWO_THUMB1_H

#include "mcugen/swar_ends_thumb1.h"
#include "mcugen/swar_s8.h"

/* r0: taps, r1: stream, r2, r3: sums of the group of pixels 0 and 1, r4: product, r5-r7: words of weights
 * r8, r9: sums of pixel 0: of both channels in one word, of the upper channel, r10, r11: likewise for pixel 1
 * r12: low, lr: span
 * Stack: +36 stream, +40 pairs left, +44 patch, +48 out0, +52 out1, +56 low, +60 span */

static void __attribute__((naked, noinline))
mg_swar_two(MCUGEN_UNUSED const uint32_t *stream, MCUGEN_UNUSED uint32_t pairs, MCUGEN_UNUSED const uint8_t *patch,
            MCUGEN_UNUSED int8_t *out0, MCUGEN_UNUSED int8_t *out1, MCUGEN_UNUSED int32_t low, MCUGEN_UNUSED uint32_t span)
{
    __asm__(".syntax unified\n"
            "push {r0, r1, r2, r3}\n"
            "push {r4, r5, r6, r7, lr}\n"
            "mov r4, r8\n mov r5, r9\n mov r6, r10\n mov r7, r11\n"
            "push {r4, r5, r6, r7}\n"
            "movs r1, r0\n"
            "ldr r7, [sp, #56]\n mov r12, r7\n"
            "ldr r7, [sp, #60]\n mov lr, r7\n"
            "b 2f\n"
            "nop\n");
    /* Code for the end of a pair, for each kind. */
    MG_SWAR_END("20", "30", MG_SWAR_THREE(""), "4");
    MG_SWAR_END("21", "31", MG_SWAR_THREE(MG_SWAR_BELOW("11")), "4");
    MG_SWAR_END("24", "34", MG_SWAR_FOURS(""), "8");
    MG_SWAR_END("25", "35", MG_SWAR_FOURS(MG_SWAR_BELOW("7")), "8");
    __asm__(".syntax unified\n"
            MG_SWAR_SINGLES("22", "30") MG_SWAR_SINGLES("23", "31") MG_SWAR_SINGLES("26", "34")
            MG_SWAR_SINGLES("27", "35")
            /* the next pair, or the end */
            "1: ldr r0, [sp, #40]\n subs r0, r0, #1\n str r0, [sp, #40]\n bne 2f\n"
            "pop {r4, r5, r6, r7}\n"
            "mov r8, r4\n mov r9, r5\n mov r10, r6\n mov r11, r7\n"
            "pop {r4, r5, r6, r7}\n"
            "pop {r0}\n add sp, #16\n bx r0\n"
            "2: ldmia r1!, {r2, r3, r4}\n"
            "mov r8, r2\n mov r9, r3\n mov r10, r2\n mov r11, r3\n"
            "ldr r0, [sp, #44]\n"
            "b 4f\n"
            /* adds the group's sums to the pair's */
            "3: add r8, r2\n asrs r2, r2, #16\n add r9, r2\n"
            "add r10, r3\n asrs r3, r3, #16\n add r11, r3\n"
            /* jumps to the code for the next group's length, or to the end of the pair */
            "4: ldmia r1!, {r2}\n lsls r4, r2, #27\n lsrs r4, r4, #26\n add pc, r4\n"
            "nop\n nop\n"
            ".set mg_n, 1\n .set mg_at, 0\n"
            ".rept 12\n"
            "b 5f + mg_at\n"
            ".set mg_at, mg_at + 2 * (6 * mg_n + (mg_n + 2) / 3 + 2)\n .set mg_n, mg_n + 1\n"
            ".endr\n"
            "nop\n nop\n nop\n"
            ".rept 2\n b 20b\n b 21b\n b 22b\n b 23b\n b 24b\n b 25b\n b 26b\n b 27b\n .endr\n"
            /* groups of 1 to 12 taps */
            "5:\n"
            ".set mg_n, 1\n"
            ".rept 12\n"
            ".set mg_k, 0\n"
            ".rept mg_n\n"
            ".if mg_k % 3 == 0\n"
            ".if mg_n - mg_k > 2\n ldmia r1!, {r5, r6, r7}\n"
            ".elseif mg_n - mg_k == 2\n ldmia r1!, {r5, r6}\n"
            ".else\n ldmia r1!, {r5}\n .endif\n"
            ".endif\n"
            ".set mg_at, mg_k % 3\n"
            "ldrb r4, [r0, #2 * mg_k + 1]\n"
            ".if mg_at == 0\n muls r4, r5, r4\n .elseif mg_at == 1\n muls r4, r6, r4\n .else\n muls r4, r7, r4\n .endif\n"
            ".if mg_k == 0\n adds r3, r2, r4\n .else\n adds r3, r3, r4\n .endif\n"
            "ldrb r4, [r0, #2 * mg_k]\n"
            ".if mg_at == 0\n muls r4, r5, r4\n .elseif mg_at == 1\n muls r4, r6, r4\n .else\n muls r4, r7, r4\n .endif\n"
            "adds r2, r2, r4\n"
            ".set mg_k, mg_k + 1\n"
            ".endr\n"
            "adds r0, r0, #2 * mg_n\n b 3b\n"
            ".set mg_n, mg_n + 1\n"
            ".endr\n");
}

/* Interleaves n bytes, each plus 128, of two pixels; word by word if they are aligned. */
static void __attribute__((naked, noinline))
mg_swar_spread_two(MCUGEN_UNUSED const int8_t *a, MCUGEN_UNUSED const int8_t *b, MCUGEN_UNUSED uint8_t *patch,
               MCUGEN_UNUSED uint32_t n)
{
    __asm__(".syntax unified\n"
            "push {r4, r5, r6, lr}\n"
            "movs r5, r0\n orrs r5, r5, r1\n orrs r5, r5, r3\n lsls r5, r5, #30\n bne 2f\n"
            "movs r6, #128\n lsls r5, r6, #8\n orrs r6, r6, r5\n lsls r5, r6, #16\n orrs r6, r6, r5\n"
            "1: ldmia r0!, {r4}\n ldmia r1!, {r5}\n eors r4, r4, r6\n eors r5, r5, r6\n"
            "strb r4, [r2, #0]\n strb r5, [r2, #1]\n lsrs r4, r4, #8\n lsrs r5, r5, #8\n"
            "strb r4, [r2, #2]\n strb r5, [r2, #3]\n lsrs r4, r4, #8\n lsrs r5, r5, #8\n"
            "strb r4, [r2, #4]\n strb r5, [r2, #5]\n lsrs r4, r4, #8\n lsrs r5, r5, #8\n"
            "strb r4, [r2, #6]\n strb r5, [r2, #7]\n"
            "adds r2, r2, #8\n subs r3, r3, #4\n bne 1b\n pop {r4, r5, r6, pc}\n"
            "2: subs r3, r3, #4\n bmi 4f\n"
            "3:\n"
            ".set mg_k, 0\n"
            ".rept 4\n"
            "ldrb r4, [r0, #mg_k]\n adds r4, #128\n strb r4, [r2, #2 * mg_k]\n"
            "ldrb r5, [r1, #mg_k]\n adds r5, #128\n strb r5, [r2, #2 * mg_k + 1]\n"
            ".set mg_k, mg_k + 1\n"
            ".endr\n"
            "adds r0, r0, #4\n adds r1, r1, #4\n adds r2, r2, #8\n subs r3, r3, #4\n bpl 3b\n"
            "4: adds r3, r3, #4\n beq 6f\n"
            "5: ldrb r4, [r0]\n adds r4, #128\n strb r4, [r2]\n ldrb r5, [r1]\n adds r5, #128\n strb r5, [r2, #1]\n"
            "adds r0, r0, #1\n adds r1, r1, #1\n adds r2, r2, #2\n subs r3, r3, #1\n bne 5b\n"
            "6: pop {r4, r5, r6, pc}\n");
}

#define MG_SWAR_PIXELS 2u

static inline void mg_swar_block(const uint32_t *stream, uint32_t pairs, const uint8_t *patch, int8_t *const *out,
                                 int32_t low, uint32_t span, uint32_t taps)
{
    (void)taps;
    mg_swar_two(stream, pairs, patch, out[0], out[1], low, span);
}

static inline void mg_swar_spread(const int8_t *const *from, uint8_t *patch, uint32_t n)
{
    mg_swar_spread_two(from[0], from[1], patch, n);
}

#endif /* MCUGEN_SWAR_TWO_THUMB1_H */
