/* SPDX-License-Identifier: Apache-2.0
 *
 * Assembly for Arm cores with Thumb-2, shared by the kernels that compute sums of two channels: scaling the sums of a
 * pair of channels of two pixels to outputs.
 */
#ifndef MCUGEN_SWAR_ENDS_THUMB2_H
#define MCUGEN_SWAR_ENDS_THUMB2_H

/* r1: stream
 * r9, r10: sums of pixel 0: of both channels in one word, of the upper channel, r11, r12: likewise for pixel 1
 * Stack: +44 out0 - 1, +48 out1 - 1, +52 low, +56 span. Label 1, defined before: code for the next pair */

/* r3 = four times the sum of a channel */
#define MG_SWAR_LOWER(both, upper) "lsl r3, " both ", #2\n sub r3, r3, " upper ", lsl #18\n"
#define MG_SWAR_UPPER(both, upper) "lsl r3, " upper ", #2\n"

/* Load the constants of a channel, with the multiplier in three or four parts.
 * r2: multiplier, r5: shift, r6: rounding. The high word of 4 * sum * multiplier is sum * multiplier shifted right by
 * 30. */
#define MG_SWAR_THREE \
    "ldmia r1!, {r2, r3, r4, r5, r6}\n orr r2, r2, r3, lsl #10\n orr r2, r2, r4, lsl #20\n" \
    "sub r5, r5, #10\n asr r6, r6, #10\n"
#define MG_SWAR_FOURS \
    "ldmia r1!, {r2, r3, r4, r5}\n orr r2, r2, r3, lsl #8\n orr r2, r2, r4, lsl #16\n orr r2, r2, r5, lsl #24\n" \
    "ldr r6, [r1], #4\n ldr r5, [r1], #4\n sub r5, r5, #6\n asr r6, r6, #6\n"

/* y = floor((r3 / 4 * mult + rounding) / 2^shift), clamped to [0, span] or to [0, 255], plus low */
#define MG_SWAR_CLAMP(y) "bic " y ", " y ", " y ", asr #31\n cmp " y ", r7\n it hi\n movhi " y ", r7\n"
#define MG_SWAR_FULL(y) "usat " y ", #8, " y "\n"
#define MG_SWAR_SCALE(y, below, clamp) \
    "smull lr, " y ", r3, r2\n" below(y) "add " y ", " y ", r6\n asr " y ", " y ", r5\n" clamp(y) "add " y ", " y ", r8\n"
#define MG_SWAR_BELOW(y) "add " y ", " y ", r3, asr #31\n add " y ", " y ", r3, asr #31\n"
#define MG_SWAR_PLAIN(y)

/* MG_SWAR_CHANNEL scales a channel of both pixels to outputs. MG_SWAR_END does so for both channels of a pair and
 * stores the outputs; the code of a channel without a partner begins at the label `single`. */
#define MG_SWAR_CHANNEL(load, sum, below, clamp) \
    load "ldrd r8, r7, [sp, #52]\n" sum("r9", "r10") MG_SWAR_SCALE("r0", below, clamp) \
    sum("r11", "r12") MG_SWAR_SCALE("r4", below, clamp) "ldrd r3, lr, [sp, #44]\n"
#define MG_SWAR_END(pair, single, load, below, clamp) \
    __asm__(".syntax unified\n" \
            pair ":" MG_SWAR_CHANNEL(load, MG_SWAR_LOWER, below, clamp) "strb r0, [r3, #1]\n strb r4, [lr, #1]\n" \
            single ":" MG_SWAR_CHANNEL(load, MG_SWAR_UPPER, below, clamp) \
            "strb r0, [r3, #2]!\n strb r4, [lr, #2]!\n strd r3, lr, [sp, #44]\n b 1b\n")
#define MG_SWAR_SINGLES(entry, single) \
    entry ": ldrd r3, lr, [sp, #44]\n sub r3, r3, #1\n sub lr, lr, #1\n strd r3, lr, [sp, #44]\n b " single "b\n"

#endif /* MCUGEN_SWAR_ENDS_THUMB2_H */
