/* SPDX-License-Identifier: Apache-2.0
 *
 * Assembly of swar_eight.h for Arm cores with only Thumb-1 (Armv6-M).
 */
#include "mcugen/runtime.h"

/* Adds a group's sums of two pairs, in registers a and b, to the block's sums at r7. */
#define MG_SWAR_ADD(a, b) \
    "ldmia r7!, {r2, r3, r4, r5}\n subs r7, r7, #16\n" \
    "add r2, " a "\n mov r6, " a "\n asrs r6, r6, #16\n adds r3, r3, r6\n" \
    "add r4, " b "\n mov r6, " b "\n asrs r6, r6, #16\n adds r5, r5, r6\n" \
    "stmia r7!, {r2, r3, r4, r5}\n"

/* Loads tap mg_k of the group, counted from 0. Signed loads have no immediate offset: r7 counts down instead. */
#if MG_SWAR_SIGNED
#define MG_SWAR_EIGHT_LAST "uxtb r7, r7\n mov lr, r7\n subs r7, r7, #1\n"
#define MG_SWAR_LOAD "ldrsb r6, [r0, r7]\n subs r7, r7, #1\n"
#define MG_SWAR_PASS "add r0, lr\n"
#else
#define MG_SWAR_EIGHT_LAST
#define MG_SWAR_LOAD "ldrb r6, [r0, #mg_k]\n"
#define MG_SWAR_PASS "uxtb r7, r7\n adds r0, r0, r7\n"
#endif

/* r0: taps, r1: stream, r2-r5: words of weights, r6: tap, r7: length of the group, or index of its tap,
 * r8-r11: sums of the group, r12: sums of the block, lr: length of a group of signed taps */
__attribute__((naked, noinline))
static const uint32_t *mg_swar_eight(MCUGEN_UNUSED const uint32_t *stream, MCUGEN_UNUSED const MG_SWAR_TAP *x, MCUGEN_UNUSED uint32_t *sums,
              MCUGEN_UNUSED uint32_t groups)
{
    __asm__(".syntax unified\n"
            "push {r4, r5, r6, r7, lr}\n"
            "mov r4, r8\n mov r5, r9\n mov r6, r10\n mov r7, r11\n"
            "push {r4, r5, r6, r7}\n"
            "mov r12, r2\n movs r7, r2\n movs r2, r0\n movs r0, r1\n movs r1, r2\n"
            "ldmia r1!, {r2, r3, r4, r5}\n stmia r7!, {r2, r3, r4, r5}\n"
            "ldmia r1!, {r2, r3, r4, r5}\n stmia r7!, {r2, r3, r4, r5}\n"
            "b 1f\n"
            "4: movs r0, r1\n"
            "pop {r4, r5, r6, r7}\n"
            "mov r8, r4\n mov r9, r5\n mov r10, r6\n mov r11, r7\n"
            "pop {r4, r5, r6, r7, pc}\n"
            /* the next group: jumps to its first tap, or to the end of the block */
            "1: ldmia r1!, {r2, r3, r4, r5, r7}\n"
            "mov r8, r2\n mov r9, r3\n mov r10, r4\n mov r11, r5\n"
            "lsrs r6, r7, #16\n" MG_SWAR_EIGHT_LAST "add pc, r6\n"
            "nop\n"
            "b 4b\n"
            "nop\n"
            ".set mg_k, 31\n"
            ".rept 32\n"
            MG_SWAR_LOAD "ldmia r1!, {r2, r3, r4, r5}\n"
            "muls r2, r6, r2\n muls r3, r6, r3\n muls r4, r6, r4\n muls r5, r6, r5\n"
            "add r8, r2\n add r9, r3\n add r10, r4\n add r11, r5\n"
            ".set mg_k, mg_k - 1\n"
            ".endr\n"
            MG_SWAR_PASS "mov r7, r12\n" MG_SWAR_ADD("r8", "r9") MG_SWAR_ADD("r10", "r11") "b 1b\n");
}
