/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/dense_s8__mve.h"
#include "mcugen/dense_s8_asm__mve.h"

MG_DECLARE_dense_s8__mve_narrow(MG_KERNEL);

#include "mcugen/finish_begin__mve.h"

#if MG_HAS_MVE
/* 4 outputs of all pixels, two at a time; if n is odd, the last but one is computed twice. n >= 2. */
static __attribute__((naked)) void MG_VARIANT(block)(const mg_dense_s8__mve_params *p MCUGEN_UNUSED, const int8_t *in MCUGEN_UNUSED, int8_t *out MCUGEN_UNUSED, const int8_t *stream MCUGEN_UNUSED, uint32_t n MCUGEN_UNUSED)
{
    __asm__ volatile(
        "push {r4-r11, lr}\n"
        "ldr r11, [sp, #36]\n"
        "sub sp, sp, #4\n"
        "vpush {d8-d15}\n"
        "sub sp, sp, #32\n"
        "ldrsh r7, [r0, #18]\n"
        "vdup.8 q0, r7\n"
        "vstrb.8 q0, [sp]\n"
        "ldrsh r7, [r0, #20]\n"
        "vdup.8 q0, r7\n"
        "vstrb.8 q0, [sp, #16]\n"
        "ldrsh r7, [r0, #16]\n"
        "mov r5, r3\n"
        "vldrb.u8 q4, [r5], #16\n"
        "vldrb.u8 q5, [r5], #16\n"
        "vldrb.u8 q6, [r5], #16\n"
        "vldrb.u8 q7, [r5], #16\n"
        "mov r9, r1\n"
        "mov r1, r2\n"
        "and r3, r11, #1\n"
        "lsr r11, r11, #1\n"
        "2:\n"
        "vldrb.u8 q0, [r9], #" MG_TEXT(MG_INPUTS) "\n"
        "vmladav.s8 r0, q0, q4\n"
        "vldrb.u8 q1, [r9], #" MG_TEXT(MG_INPUTS) "\n"
        "vmladav.s8 r2, q1, q4\n"
        "vmladav.s8 r4, q0, q5\n"
        "vmladav.s8 r6, q1, q5\n"
        "vmladav.s8 r8, q0, q6\n"
        "vmladav.s8 r10, q1, q6\n"
        "vldrw.u32 q2, [r5]\n"
        "vmladav.s8 r12, q0, q7\n"
        "vldrw.u32 q3, [r5, #16]\n"
        "vmladav.s8 lr, q1, q7\n"
        "vmov q0[2], q0[0], r0, r8\n"
        "vmov q0[3], q0[1], r4, r12\n"
        "vmov q1[2], q1[0], r2, r10\n"
        "vmov q1[3], q1[1], r6, lr\n"
        "vadd.i32 q0, q0, q2\n"
        "vadd.i32 q1, q1, q2\n"
        "vldrw.u32 q2, [r5, #32]\n"
        MG_HIGH("q0", "q3")
        MG_HIGH("q1", "q3")
        MG_NUDGE("q0", "q3")
        MG_NUDGE("q1", "q3")
        MG_ROUND("q0", "q0, q0, q2")
        MG_ROUND("q1", "q1, q1, q2")
        ".if " MG_TEXT(MG_CLAMP) "\n"
        "vldrb.u8 q2, [sp]\n"
        "vldrb.u8 q3, [sp, #16]\n"
        ".endif\n"
        "vqmovnb.s32 q0, q0\n"
        "vqmovnt.s32 q0, q1\n"
        "vqadd.s16 q0, q0, r7\n"
        "vqmovnb.s16 q0, q0\n"
        MG_BETWEEN("q2", "q3")
        "vshr.u32 q1, q0, #16\n"
        "vstrb.32 q1, [r1, #" MG_TEXT(MG_OUTPUTS) "]\n"
        "vstrb.32 q0, [r1], #2 * " MG_TEXT(MG_OUTPUTS) "\n"
        "subs r11, r11, #1\n"
        "bgt 2b\n"
        "bmi 3f\n"
        "cbz r3, 3f\n"
        "sub r9, r9, #" MG_TEXT(MG_INPUTS) "\n"
        "sub r1, r1, #" MG_TEXT(MG_OUTPUTS) "\n"
        "b 2b\n"
        "3:\n"
        "add sp, sp, #32\n"
        "vpop {d8-d15}\n"
        "add sp, sp, #4\n"
        "pop {r4-r11, pc}\n");
}
#else
static void MG_VARIANT(block)(const mg_dense_s8__mve_params *p, const int8_t *in, int8_t *out, const int8_t *stream, uint32_t n)
{
    for (uint32_t i = 0u; i < n * 4u; i += 1u) {
        const int8_t *const x = in + i / 4u * MG_INPUTS;
        const uint32_t o = i % 4u;
        int32_t rest[3], sum = 0;
        for (uint32_t k = 0u; k < MG_INPUTS; k += 1u) {
            sum += x[k] * stream[o * 16u + k];
        }
        for (uint32_t k = 0u; k < 3u; k += 1u) {
            (void)memcpy(&rest[k], stream + 64u + k * 16u + o * 4u, 4u);
        }
        sum = MG_SCALED(sum + rest[0], rest[1], rest[2]) + p->out_zero_point;
        out[i / 4u * MG_OUTPUTS + o] = (int8_t)mg_clamp(sum, p->out_min, p->out_max);
    }
}
#endif

static void MG_VARIANT(run)(const mg_dense_s8__mve_params *p, const int8_t *in, int8_t *out, uint32_t n)
{
    const int8_t *stream = p->stream;
    for (uint32_t o = 0u; o < MG_OUTPUTS; o += 4u) {
        MG_VARIANT(block)(p, in, out + (o + 4u <= MG_OUTPUTS ? o : MG_OUTPUTS - 4u), stream, n);
        stream += 112;
    }
}

/* Pixels whose vectors may exceed the tensor are copied, and so is a single pixel, which is computed as two. */
MG_LINKAGE void MG_KERNEL(const mg_dense_s8__mve_params *p, const int8_t *in, int8_t *out, int8_t *scratch, uint32_t n)
{
    const uint32_t last = p->last < 2u ? 2u : p->last;
    const uint32_t spare = p->last == 0u && n > 1u ? 0u : n <= last + 1u ? n : last;
    const uint32_t first = n - spare;
    int8_t *const made = scratch + (last + 1u) * MG_INPUTS + 16u;
    if (first > 0u) {
        MG_VARIANT(run)(p, in, out, first);
    }
    if (spare > 0u) {
        mg_copy_bytes(scratch, in + first * MG_INPUTS, spare * MG_INPUTS);
        if (spare > 1u) {
            MG_VARIANT(run)(p, scratch, out + first * MG_OUTPUTS, spare);
        } else {
            MG_VARIANT(run)(p, scratch, made, 2u);
            mg_copy_bytes(out + first * MG_OUTPUTS, made, MG_OUTPUTS);
        }
    }
}
#include "mcugen/finish_end__mve.h"
