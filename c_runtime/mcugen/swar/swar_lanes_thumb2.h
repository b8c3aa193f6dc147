/* SPDX-License-Identifier: Apache-2.0
 *
 * Assembly of swar_lanes.h for Arm cores with Thumb-2.
 */
#ifndef MCUGEN_SWAR_LANES_THUMB2_H
#define MCUGEN_SWAR_LANES_THUMB2_H

#include "mcugen/swar_ends_thumb2.h"

/* Scales a channel of two pixels. r2, r3: the sums, then the outputs, lr: at + channel */
#define MG_SWAR_LANE_SCALE(y, below, clamp) \
    "lsl " y ", " y ", #2\n smull r12, r10, " y ", r4\n" below(y) "add r10, r10, r8\n asr r10, r10, r7\n" clamp \
    "add " y ", r10, r9\n"
#define MG_SWAR_LANE_BELOW(y) "add r10, r10, " y ", asr #31\n add r10, r10, " y ", asr #31\n"
#define MG_SWAR_LANE_CLAMP "bic r10, r10, r10, asr #31\n cmp r10, r11\n it hi\n movhi r10, r11\n"
#define MG_SWAR_LANE_FULL "usat r10, #8, r10\n"
#define MG_SWAR_LANES_SCALE(below, clamp) MG_SWAR_LANE_SCALE("r2", below, clamp) MG_SWAR_LANE_SCALE("r3", below, clamp)

/* r0: table, r1: stream, r2, r3: sums, r4-r9: pointers and taps, r10-r12: weights, lr: at + channel, where `at` is the
 * field of mg_swar_lanes: elements from the pointers in the table to the taps
 * Stack: end of the table, table, at + number of channels, out0 - at, out1 - at, low, span, kind */
static void __attribute__((naked, noinline)) mg_swar_lanes_two(MCUGEN_UNUSED const mg_swar_lanes *block)
{
    __asm__(".syntax unified\n"
            "push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n"
            "ldmia r0, {r1, r2, r3, r4, r5, r6, r7, r8, r9, lr}\n"
            "add r4, r4, lr\n sub r5, r5, lr\n sub r6, r6, lr\n"
            "mov r10, r3\n mov r3, r2\n mov r2, r10\n"
            "push {r2, r3, r4, r5, r6, r7, r8, r9}\n"
            "1: ldr r0, [sp, #4]\n ldr r2, [r1], #4\n mov r3, r2\n"
            "2: ldmia r0!, {r4, r5, r6, r7, r8, r9}\n ldmia r1!, {r10, r11, r12}\n"
            "ldrsb r4, [r4, lr]\n ldrsb r5, [r5, lr]\n ldrsb r6, [r6, lr]\n ldrsb r7, [r7, lr]\n"
            "ldrsb r8, [r8, lr]\n ldrsb r9, [r9, lr]\n"
            "mla r2, r4, r10, r2\n mla r3, r5, r10, r3\n mla r2, r6, r11, r2\n mla r3, r7, r11, r3\n"
            "mla r2, r8, r12, r2\n mla r3, r9, r12, r3\n"
            "ldr r4, [sp]\n cmp r0, r4\n bne 2b\n"
            "ldmia r1!, {r4, r5, r6, r7, r8}\n orr r4, r4, r5, lsl #10\n orr r4, r4, r6, lsl #20\n"
            "sub r7, r7, #10\n asr r8, r8, #10\n"
            "ldrd r9, r11, [sp, #20]\n ldr r5, [sp, #28]\n"
            "cmp r5, #2\n beq 5f\n bhi 6f\n cbnz r5, 3f\n"
            MG_SWAR_LANES_SCALE(MG_SWAR_PLAIN, MG_SWAR_LANE_CLAMP) "b 4f\n"
            "3:\n" MG_SWAR_LANES_SCALE(MG_SWAR_LANE_BELOW, MG_SWAR_LANE_CLAMP) "b 4f\n"
            "6:\n" MG_SWAR_LANES_SCALE(MG_SWAR_LANE_BELOW, MG_SWAR_LANE_FULL) "b 4f\n"
            "5:\n" MG_SWAR_LANES_SCALE(MG_SWAR_PLAIN, MG_SWAR_LANE_FULL)
            "4: ldrd r4, r5, [sp, #12]\n strb r2, [r4, lr]\n strb r3, [r5, lr]\n"
            "add lr, lr, #1\n ldr r4, [sp, #8]\n cmp lr, r4\n bne 1b\n"
            "add sp, sp, #32\n"
            "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}\n");
}

#endif /* MCUGEN_SWAR_LANES_THUMB2_H */
