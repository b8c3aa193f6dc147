/* SPDX-License-Identifier: Apache-2.0
 *
 * Assembly of swar_runs.h for Arm cores with Thumb-2.
 */
#ifndef MCUGEN_SWAR_RUNS_THUMB2_H
#define MCUGEN_SWAR_RUNS_THUMB2_H

#include "mcugen/swar_ends_thumb2.h"

/* r0, lr    pointers to the inputs of pixels 0 and 1
 * r1        stream
 * r2, r3    sums of the group
 * r4, r5    inputs of pixels 0 and 1
 * r6-r8     words of weights
 * r9, r10   sums of pixel 0: of both channels in one word; of the upper channel
 * r11, r12  sums of pixel 1: likewise
 * Stack: +36 pairs left, +40 table, +44 out0 - 1, +48 out1 - 1, +52 low, +56 span, +60 next entry of the table */
static void __attribute__((naked, noinline))
mg_swar_direct_two(MCUGEN_UNUSED const uint32_t *stream, MCUGEN_UNUSED uint32_t pairs, MCUGEN_UNUSED const mg_swar_run *table,
                   MCUGEN_UNUSED int8_t *out0, MCUGEN_UNUSED int8_t *out1, MCUGEN_UNUSED int32_t low,
                   MCUGEN_UNUSED uint32_t span, MCUGEN_UNUSED uint32_t runs)
{
    __asm__(".syntax unified\n"
            "add r1, r1, #1\n sub r3, r3, #1\n"
            "push {r1, r2, r3}\n"
            "push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n"
            "mov r1, r0\n"
            "ldr r2, [sp, #48]\n sub r2, r2, #1\n str r2, [sp, #48]\n"
            /* the next pair, or the end */
            "1: ldr r0, [sp, #36]\n subs r0, r0, #1\n str r0, [sp, #36]\n bne 2f\n"
            "pop {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n"
            "add sp, sp, #12\n bx lr\n"
            "2: ldmia r1!, {r9, r10, r12}\n mov r11, r9\n mov r12, r10\n"
            "ldr r2, [sp, #40]\n"
            "3: ldmia r2!, {r0, lr}\n str r2, [sp, #60]\n"
            /* jumps to the code for the next group's number of taps, to the next run or to the end of the pair */
            "4: ldr r2, [r1], #4\n ubfx r4, r2, #1, #5\n tbh [pc, r4, lsl #1]\n"
            "6: .hword (7f - 6b) / 2, (8f - 6b) / 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0\n"
            ".set mg_n, 12\n"
            ".rept 12\n"
            ".hword (5f - 6b + 4 * (2 * mg_n * (mg_n - 1) + mg_n * (mg_n + 1) / 6 + 5 * (mg_n - 1))) / 2\n"
            ".set mg_n, mg_n - 1\n"
            ".endr\n"
            "7: ldr r2, [sp, #60]\n b 3b\n"
            "8: lsr r4, r2, #6\n tbh [pc, r4, lsl #1]\n"
            "9: .hword (20f - 9b) / 2, (21f - 9b) / 2, (22f - 9b) / 2, (23f - 9b) / 2\n"
            ".hword (24f - 9b) / 2, (25f - 9b) / 2, (26f - 9b) / 2, (27f - 9b) / 2\n"
            ".hword (28f - 9b) / 2, (29f - 9b) / 2, (40f - 9b) / 2, (41f - 9b) / 2\n"
            ".hword (24f - 9b) / 2, (25f - 9b) / 2, (26f - 9b) / 2, (27f - 9b) / 2\n"
            /* groups of 1 to 12 taps */
            "5:\n"
            ".set mg_n, 1\n"
            ".rept 12\n"
            ".set mg_k, 0\n"
            ".rept mg_n\n"
            ".set mg_at, mg_k % 3\n"
            ".if mg_at == 0\n"
            ".if mg_n - mg_k > 2\n ldmia.w r1!, {r6, r7, r8}\n"
            ".elseif mg_n - mg_k == 2\n ldrd r6, r7, [r1], #8\n"
            ".else\n ldr.w r6, [r1], #4\n .endif\n"
            ".endif\n"
            ".if mg_k == 0\n"
            "ldrsb.w r4, [r0], #mg_n\n ldrsb.w r5, [lr], #mg_n\n mla r3, r6, r5, r2\n mla r2, r6, r4, r2\n"
            ".else\n"
            "ldrsb.w r4, [r0, #mg_k - mg_n]\n ldrsb.w r5, [lr, #mg_k - mg_n]\n"
            ".if mg_at == 0\n mla r3, r6, r5, r3\n mla r2, r6, r4, r2\n"
            ".elseif mg_at == 1\n mla r3, r7, r5, r3\n mla r2, r7, r4, r2\n"
            ".else\n mla r3, r8, r5, r3\n mla r2, r8, r4, r2\n .endif\n"
            ".endif\n"
            ".set mg_k, mg_k + 1\n"
            ".endr\n"
            "add.w r9, r9, r2\n add.w r10, r10, r2, asr #16\n"
            "add.w r11, r11, r3\n add.w r12, r12, r3, asr #16\n"
            "b.w 4b\n"
            ".set mg_n, mg_n + 1\n"
            ".endr\n");
    /* Code for the end of a pair, for each kind. */
    MG_SWAR_END("20", "30", MG_SWAR_THREE, MG_SWAR_PLAIN, MG_SWAR_CLAMP);
    MG_SWAR_END("21", "31", MG_SWAR_THREE, MG_SWAR_BELOW, MG_SWAR_CLAMP);
    MG_SWAR_END("24", "34", MG_SWAR_FOURS, MG_SWAR_PLAIN, MG_SWAR_CLAMP);
    MG_SWAR_END("25", "35", MG_SWAR_FOURS, MG_SWAR_BELOW, MG_SWAR_CLAMP);
    MG_SWAR_END("28", "38", MG_SWAR_THREE, MG_SWAR_PLAIN, MG_SWAR_FULL);
    MG_SWAR_END("29", "39", MG_SWAR_THREE, MG_SWAR_BELOW, MG_SWAR_FULL);
    __asm__(".syntax unified\n" MG_SWAR_SINGLES("22", "30") MG_SWAR_SINGLES("23", "31") MG_SWAR_SINGLES("26", "34")
                MG_SWAR_SINGLES("27", "35") MG_SWAR_SINGLES("40", "38") MG_SWAR_SINGLES("41", "39"));
}

#endif /* MCUGEN_SWAR_RUNS_THUMB2_H */
