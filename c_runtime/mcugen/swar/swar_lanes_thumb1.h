/* SPDX-License-Identifier: Apache-2.0
 *
 * Assembly of swar_lanes.h for Arm cores with only Thumb-1 (Armv6-M).
 */
#ifndef MCUGEN_SWAR_LANES_THUMB1_H
#define MCUGEN_SWAR_LANES_THUMB1_H

#include "mcugen/swar_ends_thumb1.h"

/* Adds a tap of two pixels: their pointers to channel 0 are in the table, its weight is in the stream. */
#define MG_SWAR_LANE_TAP \
    "ldmia r5!, {r0, r6}\n ldmia r1!, {r4}\n ldrsb r0, [r0, r7]\n ldrsb r6, [r6, r7]\n" \
    "muls r0, r4, r0\n muls r6, r4, r6\n adds r2, r2, r0\n adds r3, r3, r6\n"
#define MG_SWAR_LANE_END(sum, below, out) \
    "mov r6, " sum "\n" MG_SWAR_THREE(below) MG_SWAR_CLAMP "mov r7, r8\n ldr r0, [sp, #" out "]\n strb r6, [r0, r7]\n"

/* r0, r6: taps, r1: stream, r2, r3: sums, r4: weight, r5: table, r7: channel, r10: end of the table, r12: low, lr: span
 * At the end of a channel r8: channel, r9, r11: sums
 * Stack: table, out0 - at, out1 - at, at + number of channels, kind. The channel in r7 is counted from `at` on */
static void __attribute__((naked, noinline)) mg_swar_lanes_two(MCUGEN_UNUSED const mg_swar_lanes *block)
{
    __asm__(".syntax unified\n"
            "push {r4, r5, r6, r7, lr}\n"
            "mov r4, r8\n mov r5, r9\n mov r6, r10\n mov r7, r11\n"
            "push {r4, r5, r6, r7}\n"
            "ldr r1, [r0]\n ldr r3, [r0, #4]\n ldr r4, [r0, #16]\n ldr r5, [r0, #20]\n ldr r6, [r0, #12]\n ldr r7, [r0, #32]\n"
            "ldr r2, [r0, #36]\n subs r4, r4, r2\n subs r5, r5, r2\n adds r6, r6, r2\n"
            "push {r3, r4, r5, r6, r7}\n"
            "ldr r4, [r0, #8]\n mov r10, r4\n ldr r4, [r0, #24]\n mov r12, r4\n ldr r4, [r0, #28]\n mov lr, r4\n"
            "movs r7, r2\n"
            "1: ldr r5, [sp]\n ldmia r1!, {r2}\n movs r3, r2\n"
            "2:\n" MG_SWAR_LANE_TAP MG_SWAR_LANE_TAP MG_SWAR_LANE_TAP "cmp r5, r10\n bne 2b\n"
            "mov r8, r7\n mov r9, r2\n mov r11, r3\n"
            "ldmia r1!, {r2, r3, r4, r5}\n ldr r0, [sp, #16]\n lsrs r0, r0, #1\n bcs 3f\n"
            MG_SWAR_LANE_END("r9", "", "4") MG_SWAR_LANE_END("r11", "", "8") "b 4f\n"
            "3:\n" MG_SWAR_LANE_END("r9", MG_SWAR_BELOW("11"), "4") MG_SWAR_LANE_END("r11", MG_SWAR_BELOW("11"), "8"));
    __asm__(".syntax unified\n"
            "4: adds r1, r1, #4\n adds r7, r7, #1\n ldr r0, [sp, #12]\n cmp r7, r0\n beq 5f\n b 1b\n"
            "5: add sp, #20\n"
            "pop {r4, r5, r6, r7}\n"
            "mov r8, r4\n mov r9, r5\n mov r10, r6\n mov r11, r7\n"
            "pop {r4, r5, r6, r7, pc}\n");
}

#endif /* MCUGEN_SWAR_LANES_THUMB1_H */
