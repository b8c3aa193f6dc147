/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/dense_s8__mve.h"
#include "mcugen/dense_s8_asm__mve.h"

MG_DECLARE_dense_s8__mve_narrow(MG_KERNEL);

#include "mcugen/finish_begin__mve.h"

#if MG_HAS_MVE
/* Computes four outputs of two pixels to x0, as int16 without the zero point; the two pixels alternate. x1, finish:
 * free vectors */
#define MG_SUMS(x0, x1, finish)                             \
    "vldrb.u8 " x0 ", [r9], #" MG_TEXT(MG_INPUTS) "\n"      \
    "vmladav.s8 r0, " x0 ", q4\n"                           \
    "vldrb.u8 " x1 ", [r9], #" MG_TEXT(MG_INPUTS) "\n"      \
    "vmladav.s8 r2, " x1 ", q4\n"                           \
    "vmladav.s8 r4, " x0 ", q5\n"                           \
    "vmladav.s8 r6, " x1 ", q5\n"                           \
    "vmladav.s8 r8, " x0 ", q6\n"                           \
    "vmladav.s8 r10, " x1 ", q6\n"                          \
    "vldrw.u32 " finish ", [r5]\n"                          \
    "vmladav.s8 r12, " x0 ", q7\n"                          \
    "vmladav.s8 lr, " x1 ", q7\n"                           \
    "vmov " x0 "[2], " x0 "[0], r0, r8\n"                   \
    "vmov " x0 "[3], " x0 "[1], r4, r12\n"                  \
    "vmov " x1 "[2], " x1 "[0], r2, r10\n"                  \
    "vmov " x1 "[3], " x1 "[1], r6, lr\n"                   \
    "vadd.i32 " x0 ", " x0 ", " finish "\n"                 \
    "vadd.i32 " x1 ", " x1 ", " finish "\n"                 \
    "vldrw.u32 " finish ", [r5, #16]\n"                     \
    MG_HIGH(x0, finish)                                     \
    MG_HIGH(x1, finish)                                     \
    MG_NUDGE(x0, finish)                                    \
    MG_NUDGE(x1, finish)                                    \
    "vldrw.u32 " finish ", [r5, #32]\n"                     \
    MG_ROUND(x0, x0 ", " x0 ", " finish)                    \
    MG_ROUND(x1, x1 ", " x1 ", " finish)                    \
    "vqmovnb.s32 " x0 ", " x0 "\n"                          \
    "vqmovnt.s32 " x0 ", " x1 "\n"

/* Computes 4 outputs of n >= 4 pixels, four pixels at a time. If n is not a multiple of 4, the last four overlap pixels
 * before.
 * Stack, offset from sp: 0: least output, 16: largest output, 32: offsets of 16 outputs */
static __attribute__((naked)) void MG_VARIANT(block)(const mg_dense_s8__mve_params *p MCUGEN_UNUSED, const int8_t *in MCUGEN_UNUSED, int8_t *out MCUGEN_UNUSED, const int8_t *stream MCUGEN_UNUSED, uint32_t n MCUGEN_UNUSED)
{
    __asm__ volatile(
        "push {r4-r11, lr}\n"
        "ldr r11, [sp, #36]\n"
        "sub sp, sp, #4\n"
        "vpush {d8-d15}\n"
        "sub sp, sp, #48\n"
        ".set outputs, " MG_TEXT(MG_OUTPUTS) "\n"
        "ldrsh r7, [r0, #18]\n"
        "vdup.8 q0, r7\n"
        "vstrb.8 q0, [sp]\n"
        "ldrsh r7, [r0, #20]\n"
        "vdup.8 q0, r7\n"
        "vstrb.8 q0, [sp, #16]\n"
        "mov r4, #0\n"
        "mov r6, #0x01010101\n"
        "vidup.u32 q0, r4, #1\n"
        "vmul.i32 q0, q0, r6\n"
        "movw r6, #2 * outputs * 256\n"
        "movt r6, #3 * outputs * 256 + outputs\n"
        "vadd.i32 q0, q0, r6\n"
        "vstrb.8 q0, [sp, #32]\n"
        "ldrsh r7, [r0, #16]\n"
        "mov r5, r3\n"
        "vldrb.u8 q4, [r5], #16\n"
        "vldrb.u8 q5, [r5], #16\n"
        "vldrb.u8 q6, [r5], #16\n"
        "vldrb.u8 q7, [r5], #16\n"
        "mov r9, r1\n"
        "mov r1, r2\n"
        "and r3, r11, #3\n"
        "lsr r11, r11, #2\n"
        "2:\n"
        MG_SUMS("q0", "q1", "q2")
        MG_SUMS("q1", "q2", "q3")
        ".if " MG_TEXT(MG_FINISH) " == 0\n"
        "vqmovunb.s16 q0, q0\n"
        "vqmovunt.s16 q0, q1\n"
        "vadd.i8 q0, q0, r7\n"
        ".else\n"
        "vqadd.s16 q0, q0, r7\n"
        "vqadd.s16 q1, q1, r7\n"
        "vqmovnb.s16 q0, q0\n"
        "vqmovnt.s16 q0, q1\n"
        ".endif\n"
        ".if " MG_TEXT(MG_CLAMP) "\n"
        "vldrb.u8 q2, [sp]\n"
        "vldrb.u8 q3, [sp, #16]\n"
        ".endif\n"
        "vldrb.u8 q1, [sp, #32]\n"
        MG_BETWEEN("q2", "q3")
        "vstrb.8 q0, [r1, q1]\n"
        "add r1, r1, #4 * outputs\n"
        "subs r11, r11, #1\n"
        "bgt.w 2b\n"
        "bmi 3f\n"
        "cbz r3, 3f\n"
        "rsb r3, r3, #4\n"
        "mov r0, #" MG_TEXT(MG_INPUTS) "\n"
        "mls r9, r3, r0, r9\n"
        "mov r0, #outputs\n"
        "mls r1, r3, r0, r1\n"
        "b.w 2b\n"
        "3:\n"
        "add sp, sp, #48\n"
        "vpop {d8-d15}\n"
        "add sp, sp, #4\n"
        "pop {r4-r11, pc}\n");
}
#undef MG_SUMS
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

/* Pixels for which reading whole vectors may exceed the tensor are computed from a copy in scratch: at least four, and
 * all if fewer than four would be left. */
MG_LINKAGE void MG_KERNEL(const mg_dense_s8__mve_params *p, const int8_t *in, int8_t *out, int8_t *scratch, uint32_t n)
{
    const uint32_t last = p->last == 0u ? 0u : p->last < 4u ? 4u : p->last;
    const uint32_t spare = last == 0u || n >= last + 4u ? last : n, first = n - spare;
    if (first > 0u) {
        MG_VARIANT(run)(p, in, out, first);
    }
    if (spare > 0u) {
        mg_copy_bytes(scratch, in + first * MG_INPUTS, spare * MG_INPUTS);
        MG_VARIANT(run)(p, scratch, out + first * MG_OUTPUTS, spare);
    }
}
#include "mcugen/finish_end__mve.h"
