/* SPDX-License-Identifier: Apache-2.0
 *
 * Assembly of swar_runs.h for Arm cores with only Thumb-1 (Armv6-M).
 */
#ifndef MCUGEN_SWAR_RUNS_THUMB1_H
#define MCUGEN_SWAR_RUNS_THUMB1_H

#include "mcugen/swar_ends_thumb1.h"

/* r0, r7: runs of pixels 0 and 1, r1: stream, r2, r3: sums of the group, r4: product, r5: word of weights,
 * r6: tap of the run
 * r8, r9: sums of pixel 0: of both channels in one word, of the upper channel, r10, r11: likewise for pixel 1
 * r12: low, lr: span
 * Stack: +36 next entry of the table, +40 pairs left, +44 table, +48 out0, +52 out1, +56 low, +60 span
 * The lower six bits of a group's first word are its jump target, in steps of 8 bytes from label 5. */
static void __attribute__((naked, noinline))
mg_swar_direct_two(MCUGEN_UNUSED const uint32_t *stream, MCUGEN_UNUSED uint32_t pairs, MCUGEN_UNUSED const mg_swar_run *table,
                   MCUGEN_UNUSED int8_t *out0, MCUGEN_UNUSED int8_t *out1, MCUGEN_UNUSED int32_t low,
                   MCUGEN_UNUSED uint32_t span, MCUGEN_UNUSED uint32_t runs)
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
            "ldr r5, [sp, #44]\n"
            "3: ldmia r5!, {r0, r7}\n str r5, [sp, #36]\n movs r6, #0\n b 4f\n"
            /* up to 12 taps: a group of n enters at the nth tap from the end */
            ".rept 12\n"
            "ldmia r1!, {r5}\n ldrsb r4, [r0, r6]\n muls r4, r5, r4\n adds r2, r2, r4\n"
            "ldrsb r4, [r7, r6]\n muls r4, r5, r4\n adds r3, r3, r4\n adds r6, r6, #1\n"
            ".endr\n"
            /* adds the group's sums to the pair's */
            "add r8, r2\n asrs r2, r2, #16\n add r9, r2\n"
            "add r10, r3\n asrs r3, r3, #16\n add r11, r3\n"
            /* jumps to the next group, to the next run or to the end of the pair */
            "4: ldmia r1!, {r2}\n movs r3, r2\n lsls r4, r2, #26\n asrs r4, r4, #23\n add pc, r4\n"
            "nop\n"
            "5: ldr r5, [sp, #36]\n b 3b\n nop\n nop\n nop\n nop\n nop\n nop\n"
            "lsrs r2, r2, #6\n lsls r2, r2, #1\n add pc, r2\n nop\n"
            ".rept 2\n b 20b\n b 21b\n b 22b\n b 23b\n b 24b\n b 25b\n b 26b\n b 27b\n .endr\n");
}

#endif /* MCUGEN_SWAR_RUNS_THUMB1_H */
