/* SPDX-License-Identifier: Apache-2.0
 *
 * Assembly of swar_two.h for Arm cores with Thumb-2.
 */
#ifndef MCUGEN_SWAR_TWO_THUMB2_H
#define MCUGEN_SWAR_TWO_THUMB2_H

#include "mcugen/swar_ends_thumb2.h"
#include "mcugen/swar_s8.h"

/* r0: taps, r1: stream, r2, r3: sums of the group of pixels 0 and 1, r4, r5: taps, r6-r8: words of weights
 * r9, r10: sums of pixel 0: of both channels in one word, of the upper channel, r11, r12: likewise for pixel 1
 * Stack: +36 pairs left, +40 patch, +44 out0 - 1, +48 out1 - 1, +52 low, +56 span */

static void __attribute__((naked, noinline))
mg_swar_two(MCUGEN_UNUSED const uint32_t *stream, MCUGEN_UNUSED uint32_t pairs, MCUGEN_UNUSED const uint8_t *patch,
            MCUGEN_UNUSED int8_t *out0, MCUGEN_UNUSED int8_t *out1, MCUGEN_UNUSED int32_t low, MCUGEN_UNUSED uint32_t span)
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
            "ldr r0, [sp, #40]\n"
            /* jumps to the code for the next group's length, or to the end of the pair */
            "4: ldr r2, [r1], #4\n and r4, r2, #31\n tbh [pc, r4, lsl #1]\n"
            "6: .hword 0\n"
            ".set mg_n, 1\n .set mg_at, 0\n"
            ".rept 12\n"
            ".hword (5f - 6b + mg_at) / 2\n"
            ".set mg_at, mg_at + 4 * (4 * mg_n + (mg_n + 2) / 3 + 5)\n .set mg_n, mg_n + 1\n"
            ".endr\n"
            ".hword 0, 0, 0\n"
            ".hword (20f - 6b) / 2, (21f - 6b) / 2, (22f - 6b) / 2, (23f - 6b) / 2\n"
            ".hword (24f - 6b) / 2, (25f - 6b) / 2, (26f - 6b) / 2, (27f - 6b) / 2\n"
            ".hword (28f - 6b) / 2, (29f - 6b) / 2, (40f - 6b) / 2, (41f - 6b) / 2\n"
            ".hword (24f - 6b) / 2, (25f - 6b) / 2, (26f - 6b) / 2, (27f - 6b) / 2\n"
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
            "ldrb.w r4, [r0], #2 * mg_n\n ldrb.w r5, [r0, #1 - 2 * mg_n]\n mla r3, r6, r5, r2\n mla r2, r6, r4, r2\n"
            ".else\n"
            "ldrb.w r4, [r0, #2 * (mg_k - mg_n)]\n ldrb.w r5, [r0, #2 * (mg_k - mg_n) + 1]\n"
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

/* Interleaves n bytes, each plus 128, of two pixels. */
static void mg_swar_spread_two(const int8_t *a, const int8_t *b, uint8_t *patch, uint32_t n)
{
    const uint32_t fours = n & ~3u;
    for (uint32_t k = 0u; k < fours; k += 4u) {
        const int8_t *const from0 = a + k;
        const int8_t *const from1 = b + k;
        uint8_t *const to = patch + 2u * k;
        to[0] = (uint8_t)(from0[0] + 128);
        to[1] = (uint8_t)(from1[0] + 128);
        to[2] = (uint8_t)(from0[1] + 128);
        to[3] = (uint8_t)(from1[1] + 128);
        to[4] = (uint8_t)(from0[2] + 128);
        to[5] = (uint8_t)(from1[2] + 128);
        to[6] = (uint8_t)(from0[3] + 128);
        to[7] = (uint8_t)(from1[3] + 128);
    }
    for (uint32_t k = fours; k < n; k += 1u) {
        patch[2u * k] = (uint8_t)(a[k] + 128);
        patch[2u * k + 1u] = (uint8_t)(b[k] + 128);
    }
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

#endif /* MCUGEN_SWAR_TWO_THUMB2_H */
