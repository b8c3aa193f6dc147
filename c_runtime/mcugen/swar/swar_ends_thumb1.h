/* SPDX-License-Identifier: Apache-2.0
 *
 * Assembly for Arm cores with only Thumb-1 (Armv6-M), shared by the kernels that compute sums of two channels: scaling
 * the sums of a pair of channels of two pixels to outputs.
 */
#ifndef MCUGEN_SWAR_ENDS_THUMB1_H
#define MCUGEN_SWAR_ENDS_THUMB1_H

/* r1: stream, r12: low, lr: span
 * r8, r9: sums of pixel 0: of both channels in one word, of the upper channel, r10, r11: likewise for pixel 1
 * Stack: +48 out0, +52 out1. Label 1, defined later: code for the next pair */

/* r6 = the sum of a channel */
#define MG_SWAR_LOWER(both, upper) "mov r6, " upper "\n lsls r6, r6, #16\n mov r7, " both "\n subs r6, r7, r6\n"
#define MG_SWAR_UPPER(both, upper) "mov r6, " upper "\n"

/* r7 = r6 * multiplier, part by part, without the lowest bits */
#define MG_SWAR_FIRST(bits) "movs r7, r6\n muls r7, r2, r7\n asrs r7, r7, #" bits "\n"
#define MG_SWAR_PART(part, bits) "movs r0, r6\n muls r0, " part ", r0\n adds r7, r7, r0\n asrs r7, r7, #" bits "\n"
#define MG_SWAR_BELOW(bits) "asrs r0, r6, #31\n lsls r0, r0, #" bits "\n adds r7, r7, r0\n"
#define MG_SWAR_LAST(part) "muls r6, " part ", r6\n adds r6, r6, r7\n ldr r7, [r1]\n adds r6, r6, r7\n"

/* r6 = floor((r6 * multiplier + rounding) / 2^shift), for multipliers in three and in four parts */
#define MG_SWAR_THREE(below) \
    MG_SWAR_FIRST("10") MG_SWAR_PART("r3", "10") below MG_SWAR_LAST("r4") "asrs r6, r6, r5\n"
#define MG_SWAR_FOURS(below) \
    MG_SWAR_FIRST("8") MG_SWAR_PART("r3", "8") MG_SWAR_PART("r4", "8") below MG_SWAR_LAST("r5") \
    "ldr r7, [r1, #4]\n asrs r6, r6, r7\n"

/* MG_SWAR_CLAMP: clamps r6 to [0, span] and adds low. MG_SWAR_STORE and MG_SWAR_STEP store it; MG_SWAR_STEP also ends a
 * pair. */
#define MG_SWAR_CLAMP \
    "cmp r6, lr\n bls 8f\n mvns r6, r6\n asrs r6, r6, #31\n mov r7, lr\n ands r6, r6, r7\n 8: add r6, r12\n"
#define MG_SWAR_STORE(out) "ldr r0, [sp, #" out "]\n strb r6, [r0]\n"
#define MG_SWAR_STEP(out) "ldr r0, [sp, #" out "]\n strb r6, [r0, #1]\n adds r0, r0, #2\n str r0, [sp, #" out "]\n"

/* MG_SWAR_CHANNEL scales and stores a channel of both pixels. MG_SWAR_END does so for both channels of a pair; the code
 * of a channel without a partner begins at the label `single`. */
#define MG_SWAR_CHANNEL(sum, scale, store, size) \
    "ldmia r1!, {r2, r3, r4, r5}\n" \
    sum("r8", "r9") scale MG_SWAR_CLAMP store("48") sum("r10", "r11") scale MG_SWAR_CLAMP store("52") \
    "adds r1, r1, #" size "\n"
#define MG_SWAR_END(pair, single, scale, size) \
    __asm__(".syntax unified\n" \
            pair ":" MG_SWAR_CHANNEL(MG_SWAR_LOWER, scale, MG_SWAR_STORE, size) \
            single ":" MG_SWAR_CHANNEL(MG_SWAR_UPPER, scale, MG_SWAR_STEP, size) "b 1f\n")
#define MG_SWAR_SINGLES(entry, single) \
    entry ": ldr r0, [sp, #48]\n subs r0, r0, #1\n str r0, [sp, #48]\n" \
    "ldr r0, [sp, #52]\n subs r0, r0, #1\n str r0, [sp, #52]\n b " single "b\n"

#endif /* MCUGEN_SWAR_ENDS_THUMB1_H */
