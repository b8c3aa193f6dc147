/* SPDX-License-Identifier: Apache-2.0
 *
 * Assembly of swar_eight.h for Arm cores with Thumb-2.
 */
#include "mcugen/runtime.h"

/* Adds a group's sums of two pairs, in registers a and b, to the block's sums at `at`. */
#define MG_SWAR_ADD(at, a, b) \
    "ldmia " at ", {r3, r4, r5, r6}\n add r3, r3, " a "\n add r4, r4, " a ", asr #16\n" \
    "add r5, r5, " b "\n add r6, r6, " b ", asr #16\n stmia " at ", {r3, r4, r5, r6}\n"

/* Loads tap mg_k of the group, counted from 0. */
#if MG_SWAR_SIGNED
#define MG_SWAR_LOAD "ldrsb.w r7, [r0, #mg_k]\n"
#else
#define MG_SWAR_LOAD "ldrb.n r7, [r0, #mg_k]\n"
#endif

/* r0: taps, r1: stream, r2: sums of the block, r3-r6: words of weights, r7: tap, r8-r11: sums of the group,
 * r12: length of the group, lr: last four sums of the block */
__attribute__((naked, noinline))
static const uint32_t *mg_swar_eight(MCUGEN_UNUSED const uint32_t *stream, MCUGEN_UNUSED const MG_SWAR_TAP *x, MCUGEN_UNUSED uint32_t *sums,
              MCUGEN_UNUSED uint32_t groups)
{
    __asm__(".syntax unified\n"
            "push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n"
            "mov r3, r0\n mov r0, r1\n mov r1, r3\n"
            "add lr, r2, #16\n"
            "ldmia r1!, {r3, r4, r5, r6, r7, r8, r9, r10}\n stmia r2, {r3, r4, r5, r6, r7, r8, r9, r10}\n"
            "b 1f\n"
            "4: mov r0, r1\n"
            "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}\n"
            /* the next group: jumps to its first tap, or to the end of the block */
            "1: ldmia.w r1!, {r8, r9, r10, r11, r12}\n"
            "lsr r3, r12, #16\n add pc, r3\n"
            "nop\n"
            "b.n 4b\n"
            "nop\n"
            ".set mg_k, 31\n"
            ".rept 32\n"
            MG_SWAR_LOAD "ldmia.n r1!, {r3, r4, r5, r6}\n"
            "mla r8, r3, r7, r8\n mla r9, r4, r7, r9\n mla r10, r5, r7, r10\n mla r11, r6, r7, r11\n"
            ".set mg_k, mg_k - 1\n"
            ".endr\n"
            "uxtb r12, r12\n add r0, r0, r12\n" MG_SWAR_ADD("r2", "r8", "r9") MG_SWAR_ADD("lr", "r10", "r11")
            "b 1b\n");
}
