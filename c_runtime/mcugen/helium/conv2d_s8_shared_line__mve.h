/* SPDX-License-Identifier: Apache-2.0
 *
 * Computes the outputs of consecutive patches of any size. MG_LINEAR and MG_CLAMP stay defined: the including file ends
 * with finish_end__mve.h.
 */
#include "mcugen/conv2d_s8_shared_pixel__mve.h"

#if MG_HAS_MVE
/* Computes two pixels at a time. If the number of pixels is odd, the last but one is computed twice; for a single
 * pixel, the second result is overwritten.
 * Stack, offset from sp: 0: start of the last pixel's outputs, 4: out_c, 8: stream, 12: end of the full blocks, 16: end
 * of all blocks, 20: number of outputs that the last block repeats, 24: steps - 1, 28: bytes of a patch */
static __attribute__((naked)) void MG_VARIANT(line)(const mg_conv2d_s8__mve_shared_params *p MCUGEN_UNUSED, const int8_t *patches MCUGEN_UNUSED, int8_t *out MCUGEN_UNUSED)
{
    __asm__ volatile(
        MG_ENTER("32")
        "ldrd r5, r6, [r0]\n"
        "ldr r4, [r0, #8]\n"
        MG_LIMITS("12", "14", "16")
        "ldrh r8, [r0, #20]\n"
        "lsl r9, r8, #6\n"
        "add r9, r9, #48\n"
        MG_ENDS("r10", "r9", "r12", "r11")
        "strd r12, r11, [sp, #16]\n"
        "sub r6, r6, #1\n"
        "mla r3, r6, r4, r2\n"
        "strd r3, r4, [sp, #0]\n"
        "strd r5, r10, [sp, #8]\n"
        "sub r11, r8, #1\n"
        "lsl r8, r8, #4\n"
        "strd r11, r8, [sp, #24]\n"
        "mov r7, r1\n"
        "add r9, r7, r8\n"
        "mov r1, r2\n"
        "mov r3, r2\n"
        "cmp r6, #0\n"
        "it ne\n"
        "addne r3, r3, r4\n"
        "2:\n"
        MG_TWO_PATCHES("24")
        "ldrd r6, r4, [sp, #24]\n"
        "sub r7, r7, r4\n"
        "sub r9, r9, r4\n"
        "ldrd r0, r2, [sp, #12]\n"
        "cmp r5, r0\n"
        "blo.w 2b\n"
        "cmp r5, r2\n"
        "bne 4f\n"
        "add r7, r9, r4\n"
        "add r9, r7, r4\n"
        "ldmia sp, {r0, r2, r5}\n"
        "mov r1, r3\n"
        "add r3, r3, r2\n"
        "cmp r1, r0\n"
        "blo.w 2b\n"
        "bne 6f\n"
        "sub r1, r1, r2\n"
        "sub r3, r3, r2\n"
        "sub r7, r7, r4\n"
        "sub r9, r9, r4\n"
        "b.w 2b\n"
        MG_AGAIN("20")
        "6:\n"
        MG_LEAVE("32"));
}
#else
static void MG_VARIANT(line)(const mg_conv2d_s8__mve_shared_params *p, const int8_t *patches, int8_t *out)
{
    for (uint32_t x = 0u; x < p->out_w; x += 1u) {
        MG_VARIANT(pixel)(p, patches + x * p->steps * 16u, out + x * p->out_c);
    }
}
#endif
