/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/dense_s8_asm__mve.h"
#include "mcugen/depthwise_conv2d_s8__mve_columns.h"

MG_DECLARE_depthwise_conv2d_s8__mve_columns(MG_KERNEL);

#include "mcugen/finish_begin__mve.h"

#if MG_HAS_MVE
#define MG_OUTPUT(k, sum, q)                                          \
    "vldrb.u8 " q ", [r9, #" #k " * " MG_TEXT(MG_STRIDE) "]\n"        \
    "vmladav.s8 " sum ", " q ", q4\n"

static __attribute__((naked)) void MG_VARIANT(walk)(const mg_columns_state *state MCUGEN_UNUSED, const mg_depthwise_conv2d_s8__mve_columns_params *p MCUGEN_UNUSED)
{
    __asm__ volatile(
        "push {r4-r11, lr}\n"
        "sub sp, sp, #4\n"
        "vpush {d8-d15}\n"
        "sub sp, sp, #80\n"
        "ldrsh r7, [r1, #8]\n"
        "vdup.16 q6, r7\n"
        "ldrsh r7, [r1, #10]\n"
        "vdup.8 q0, r7\n"
        "vstrb.8 q0, [sp, #48]\n"
        "ldrsh r7, [r1, #12]\n"
        "vdup.8 q0, r7\n"
        "vstrb.8 q0, [sp, #64]\n"
        "ldrd r11, r6, [r1]\n"
        "mov r4, #0\n"
        "vidup.u16 q5, r4, #1\n"
        "vmul.i16 q5, q5, r6\n"
        "ldmia r0!, {r1-r6}\n"
        "stmia sp, {r1-r6}\n"
        "add r8, sp, #24\n"
        "ldmia r0, {r1-r5}\n"
        "stmia r8, {r1-r5}\n"
        "1:\n"
        "ldrd r0, r2, [sp]\n"
        "add r4, r0, #1\n"
        "add r6, r2, #1\n"
        "strd r4, r6, [sp]\n"
        "ldrd r10, r7, [sp, #8]\n"
        "ldrd r12, r3, [sp, #16]\n"
        "dls lr, r12\n"
        "4:\n"
        "vldrb.u16 q0, [r0, q5]\n"
        "add r0, r0, r10\n"
        "vstrb.16 q0, [r7], #8\n"
        "le lr, 4b\n"
        "cbz r3, 5f\n"
        "ldr r6, [sp, #40]\n"
        "mls r0, r3, r6, r0\n"
        "sub r7, r7, r3\n"
        "vldrb.u16 q0, [r0, q5]\n"
        "vstrb.16 q0, [r7]\n"
        "5:\n"
        "mov r1, r2\n"
        "ldmia r11!, {r5, r7, r8}\n"
        "vdup.32 q7, r8\n"
        "vldrb.u8 q4, [r11], #16\n"
        "ldrd r9, r3, [sp, #24]\n"
        "2:\n"
        MG_OUTPUT(0, "r0", "q0")
        MG_OUTPUT(1, "r2", "q1")
        MG_OUTPUT(2, "r4", "q0")
        MG_OUTPUT(3, "r6", "q1")
        MG_OUTPUT(4, "r8", "q0")
        MG_OUTPUT(5, "r10", "q1")
        MG_OUTPUT(6, "r12", "q0")
        MG_OUTPUT(7, "lr", "q1")
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
        MG_ROUND("q0", "q0, q0, q7")
        MG_ROUND("q1", "q1, q1, q7")
        ".if " MG_TEXT(MG_CLAMP) "\n"
        "vldrb.u8 q2, [sp, #48]\n"
        "vldrb.u8 q3, [sp, #64]\n"
        ".endif\n"
        "vqmovnb.s32 q0, q0\n"
        "vqmovnt.s32 q0, q1\n"
        "ldr r0, [sp, #8]\n"
        "vqadd.s16 q0, q0, q6\n"
        "vqmovnb.s16 q0, q0\n"
        MG_BETWEEN("q2", "q3")
        "vstrb.16 q0, [r1, q5]\n"
        "add r1, r1, r0\n"
        "add r9, r9, #8 * " MG_TEXT(MG_STRIDE) "\n"
        "subs r3, r3, #1\n"
        "bgt 2b\n"
        "bmi 3f\n"
        "ldr r0, [sp, #32]\n"
        "cbz r0, 3f\n"
        "ldr r2, [sp, #40]\n"
        "mls r1, r0, r2, r1\n"
        "mov r4, #" MG_TEXT(MG_STRIDE) "\n"
        "mls r9, r0, r4, r9\n"
        "b 2b\n"
        "3:\n"
        "ldr r0, [sp, #36]\n"
        "subs r0, r0, #1\n"
        "str r0, [sp, #36]\n"
        "bne 1b\n"
        "add sp, sp, #80\n"
        "vpop {d8-d15}\n"
        "add sp, sp, #4\n"
        "pop {r4-r11, pc}\n");
}
#undef MG_OUTPUT
#else
static void MG_VARIANT(walk)(const mg_columns_state *state, const mg_depthwise_conv2d_s8__mve_columns_params *p)
{
    for (uint32_t c = 0u; c < state->left; c += 1u) {
        const int8_t *const constants = p->stream + c * 28u;
        int32_t rest[3];
        (void)memcpy(rest, constants, 12u);
        for (uint32_t t = 0u; t < p->in_h; t += 1u) {
            state->elements[t] = state->in[c + t * p->row_c];
        }
        for (uint32_t t = 0u; t < p->out_h; t += 1u) {
            int32_t sum = rest[0];
            for (uint32_t k = 0u; k < 16u; k += 1u) {
                sum += constants[12u + k] * state->first[t * MG_STRIDE + k];
            }
            sum = MG_SCALED(sum, rest[1], rest[2]) + p->out_zero_point;
            state->out[c + t * p->row_c] = (int8_t)mg_clamp(sum, p->out_min, p->out_max);
        }
    }
}
#endif

/* The stream is read from its start for each image column. */
MG_LINKAGE void MG_KERNEL(const mg_depthwise_conv2d_s8__mve_columns_params *p, const int8_t *in, int8_t *out, int8_t *scratch)
{
    mg_columns_state state = {in, out, p->row_c * 8u, scratch + p->above, p->in_h / 8u, (8u - p->in_h % 8u) % 8u, scratch,
                              p->out_h / 8u, (8u - p->out_h % 8u) % 8u, p->channels, p->row_c};
    mg_fill_bytes(scratch, p->in_zero_point, p->length);
    for (uint32_t x = 0u; x < p->row_c; x += p->channels) {
        MG_VARIANT(walk)(&state, p);
        state.in += p->channels;
        state.out += p->channels;
    }
}
#include "mcugen/finish_end__mve.h"
