/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/dense_s8_asm__mve.h"
#include "mcugen/depthwise_conv2d_s8__mve.h"

MG_DECLARE_depthwise_conv2d_s8__mve_wide(MG_KERNEL);

#define MG_ROW MG_LINKAGE void
#include "mcugen/depthwise_conv2d_s8_rows__mve.h"
#undef MG_ROW

#include "mcugen/finish_begin__mve.h"

#if MG_HAS_MVE
/* Sums of two outputs. With a stride of 1, one vector has the windows of both. */
#if MG_STRIDE == 1
#define MG_TWO(first, second)                                             \
    "vldrw.u32 q0, [q7, #8 * " MG_TEXT(MG_CHANNELS) "]!\n"                \
    "vmladav.s8 " first ", q0, q4\n"                                      \
    "vmladav.s8 " second ", q0, q5\n"
#else
#define MG_TWO(first, second)                                             \
    "vldrw.u32 q0, [q7, #8 * " MG_TEXT(MG_CHANNELS) "]!\n"                \
    "vmladav.s8 " first ", q0, q4\n"                                      \
    "vldrw.u32 q1, [q7, #8 * " MG_TEXT(MG_CHANNELS) "]!\n"                \
    "vmladav.s8 " second ", q1, q4\n"
#endif

/* Computes one channel after the other, 8 outputs at a time. If MG_WIDTH is not a multiple of 8, the last block repeats
 * outputs.
 * Stack, offset from sp: 0: offsets of 8 outputs, 16: least output, 32: largest output, 48: number of channels left */
static __attribute__((naked)) void MG_VARIANT(compute)(const mg_depthwise_conv2d_s8__mve_params *p MCUGEN_UNUSED, const int8_t *weave MCUGEN_UNUSED, int8_t *out MCUGEN_UNUSED)
{
    __asm__ volatile(
        "push {r4-r11, lr}\n"
        "sub sp, sp, #4\n"
        "vpush {d8-d15}\n"
        "sub sp, sp, #56\n"
        ".set blocks, " MG_TEXT(MG_WIDTH) " / 8\n"
        ".set repeated, (8 - " MG_TEXT(MG_WIDTH) " % 8) % 8\n"
        ".set channels, " MG_TEXT(MG_CHANNELS) "\n"
        ".set step, 4 * channels * " MG_TEXT(MG_STRIDE) "\n"
        "add r3, r0, #36\n"
        "vldrw.u32 q7, [r3]\n"
        "sub r1, r1, #8 * channels\n"
        "vadd.i32 q7, q7, r1\n"
        "ldrsh r7, [r0, #12]\n"
        "vdup.16 q6, r7\n"
        "ldrsh r7, [r0, #14]\n"
        "vdup.8 q0, r7\n"
        "vstrb.8 q0, [sp, #16]\n"
        "ldrsh r7, [r0, #16]\n"
        "vdup.8 q0, r7\n"
        "vstrb.8 q0, [sp, #32]\n"
        "mov r4, #0\n"
        "mov r6, #channels\n"
        "vidup.u16 q0, r4, #1\n"
        "vmul.i16 q0, q0, r6\n"
        "vstrh.16 q0, [sp]\n"
        "ldr r11, [r0]\n"
        "ldr r4, [r0, #8]\n"
        "str r4, [sp, #48]\n"
        "mov r1, r2\n"
        "1:\n"
        "ldmia r11!, {r5, r7, r9}\n"
        "vldrb.u8 q4, [r11], #16\n"
        ".if " MG_TEXT(MG_STRIDE) " == 1\n"
        "vldrb.u8 q5, [r11], #16\n"
        ".endif\n"
        "mov r3, #blocks\n"
        "2:\n"
        MG_TWO("r0", "r2")
        MG_TWO("r4", "r6")
        MG_TWO("r8", "r10")
        MG_TWO("r12", "lr")
        "vmov q0[2], q0[0], r0, r8\n"
        "vmov q0[3], q0[1], r4, r12\n"
        "vmov q1[2], q1[0], r2, r10\n"
        "vmov q1[3], q1[1], r6, lr\n"
        "vadd.i32 q0, q0, r5\n"
        "vadd.i32 q1, q1, r5\n"
        MG_HIGH("q0", "r7")
        MG_HIGH("q1", "r7")
        MG_NUDGE("q0", "q2")
        MG_NUDGE("q1", "q3")
        MG_ROUND("q0", "q0, r9")
        MG_ROUND("q1", "q1, r9")
        ".if " MG_TEXT(MG_CLAMP) "\n"
        "vldrb.u8 q2, [sp, #16]\n"
        "vldrb.u8 q3, [sp, #32]\n"
        ".endif\n"
        "vqmovnb.s32 q0, q0\n"
        "vqmovnt.s32 q0, q1\n"
        "vldrh.u16 q1, [sp]\n"
        "vqadd.s16 q0, q0, q6\n"
        "vqmovnb.s16 q0, q0\n"
        MG_BETWEEN("q2", "q3")
        "vstrb.16 q0, [r1, q1]\n"
        "add r1, r1, #8 * channels\n"
        "subs r3, r3, #1\n"
        "bgt 2b\n"
        ".if repeated\n"
        "bmi 3f\n"
        "movw r0, #repeated * step\n"
        "vsub.i32 q7, q7, r0\n"
        "sub r1, r1, #repeated * channels\n"
        "b 2b\n"
        "3:\n"
        ".endif\n"
        "movw r0, #" MG_TEXT(MG_WIDTH) " * step - 4\n"
        "vsub.i32 q7, q7, r0\n"
        "movw r2, #" MG_TEXT(MG_WIDTH) " * channels - 1\n"
        "sub r1, r1, r2\n"
        "ldr r4, [sp, #48]\n"
        "subs r4, r4, #1\n"
        "str r4, [sp, #48]\n"
        "bne 1b\n"
        "add sp, sp, #56\n"
        "vpop {d8-d15}\n"
        "add sp, sp, #4\n"
        "pop {r4-r11, pc}\n");
}
#undef MG_TWO

#else
static void MG_VARIANT(compute)(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *weave, int8_t *out)
{
    for (uint32_t i = 0u; i < MG_WIDTH * MG_CHANNELS; i += 1u) {
        const uint32_t c = i % MG_CHANNELS;
        const int8_t *const constants = p->stream + c * (MG_STRIDE == 1 ? 44u : 28u);
        const int8_t *const x = weave + i / MG_CHANNELS * p->step_bytes + c * 4u;
        const uint32_t words[4] = {p->word_0, p->word_1, p->word_2, p->word_3};
        int32_t rest[3], sum = 0;
        for (uint32_t t = 0u; t < 16u; t += 1u) {
            sum += constants[12u + t] * x[words[t / 4u] + t % 4u];
        }
        (void)memcpy(rest, constants, 12u);
        out[i] = (int8_t)mg_clamp(MG_SCALED(sum + rest[0], rest[1], rest[2]) + p->out_zero_point, p->out_min, p->out_max);
    }
}
#endif

MG_LINKAGE void MG_KERNEL(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *const *rows, int8_t *out, int8_t *scratch)
{
    MG_VARIANT(weave_all)(p, rows, scratch);
    MG_VARIANT(compute)(p, scratch, out);
}
#include "mcugen/finish_end__mve.h"
