/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/dense_s8__mve.h"
#include "mcugen/eights__mve.h"

MG_DECLARE_dense_s8__mve_eights(MG_KERNEL);

/* Bytes of a block of four outputs in the stream. */
#define MG_BLOCK (((MG_INPUTS + 15) / 16) * 64 + 48)

#include "mcugen/finish_begin__mve.h"

#if MG_HAS_MVE
#define MG_SUMS(result)                       \
    MG_FOUR_HELD("", "q0", "q2")            \
    MG_FOUR_HELD("a", "q1", "q3")           \
    ".set offset, 32\n"                     \
    ".rept steps - 2\n"                     \
    ".if far\n"                             \
    MG_FOUR_LOADED("vldrb.u8 q5, [r9, #offset]\n", "vldrb.u8 q6, [r11, #offset]\n") \
    ".else\n"                               \
    MG_FOUR_LOADED("vldrb.u8 q5, [r9, #offset]\n", "vldrb.u8 q6, [r9, #offset + inputs]\n") \
    ".endif\n"                              \
    ".set offset, offset + 16\n"            \
    ".endr\n"                               \
    MG_FOUR_SCALED(result)

/* Computes n >= 2 pixels, two at a time. If n is odd, the last but one is computed twice.
 * Stack, offset from sp: 0: least output, 16: largest output, 32: stream, 36: end of the full groups of eight outputs,
 * 40: end of all groups, 44: number of pixels left */
static __attribute__((naked)) void MG_VARIANT(run)(const mg_dense_s8__mve_params *p MCUGEN_UNUSED, const int8_t *in MCUGEN_UNUSED, int8_t *out MCUGEN_UNUSED, uint32_t n MCUGEN_UNUSED)
{
    __asm__ volatile(
        "push {r4-r11, lr}\n"
        "sub sp, sp, #4\n"
        "vpush {d8-d15}\n"
        "sub sp, sp, #48\n"
        ".set inputs, " MG_TEXT(MG_INPUTS) "\n"
        ".set outputs, " MG_TEXT(MG_OUTPUTS) "\n"
        ".set steps, (inputs + 15) / 16\n"
        ".set far, 1\n"
        ".if inputs + 16 * (steps - 1) < 128\n"
        ".set far, 0\n"
        ".endif\n"
        "ldrsh r7, [r0, #18]\n"
        "vdup.8 q0, r7\n"
        "vstrb.8 q0, [sp]\n"
        "ldrsh r7, [r0, #20]\n"
        "vdup.8 q0, r7\n"
        "vstrb.8 q0, [sp, #16]\n"
        "ldrsh r7, [r0, #16]\n"
        "ldr r5, [r0]\n"
        "movw r4, #outputs / 8 * 2 * " MG_TEXT(MG_BLOCK) "\n"
        "add r11, r5, r4\n"
        "movw r4, #(outputs + 7) / 8 * 2 * " MG_TEXT(MG_BLOCK) "\n"
        "add r4, r4, r5\n"
        "strd r5, r11, [sp, #32]\n"
        "strd r4, r3, [sp, #40]\n"
        "mov r9, r1\n"
        "mov r1, r2\n"
        "add r3, r2, #outputs\n"
        "1:\n"
        "ldr r5, [sp, #32]\n"
        ".if far\n"
        "add r11, r9, #inputs\n"
        ".endif\n"
        "vldrb.u8 q0, [r9]\n"
        "vldrb.u8 q1, [r9, #16]\n"
        ".if far\n"
        "vldrb.u8 q2, [r11]\n"
        "vldrb.u8 q3, [r11, #16]\n"
        ".else\n"
        "vldrb.u8 q2, [r9, #inputs]\n"
        "vldrb.u8 q3, [r9, #inputs + 16]\n"
        ".endif\n"
        "2:\n"
        MG_SUMS("q4")
        MG_SUMS("q5")
        MG_EIGHT_NARROWED("r7")
        ".if far\n"
        "ldr r0, [sp, #36]\n"
        "cmp r5, r0\n"
        ".else\n"
        "cmp r5, r11\n"
        ".endif\n"
        "blo.w 2b\n"
        ".if outputs % 8\n"
        "ldr r0, [sp, #40]\n"
        "cmp r5, r0\n"
        "beq 3f\n"
        "sub r1, r1, #8 - outputs % 8\n"
        "sub r3, r3, #8 - outputs % 8\n"
        "b.w 2b\n"
        "3:\n"
        ".endif\n"
        "mov r1, r3\n"
        "add r3, r3, #outputs\n"
        "add r9, r9, #2 * inputs\n"
        "ldr r0, [sp, #44]\n"
        "subs r0, r0, #2\n"
        "str r0, [sp, #44]\n"
        "cmp r0, #1\n"
        "bgt.w 1b\n"
        "bne 4f\n"
        "sub r9, r9, #inputs\n"
        "sub r1, r1, #outputs\n"
        "sub r3, r3, #outputs\n"
        "b.w 1b\n"
        "4:\n"
        "add sp, sp, #48\n"
        "vpop {d8-d15}\n"
        "add sp, sp, #4\n"
        "pop {r4-r11, pc}\n");
}
#undef MG_SUMS
#else
static void MG_VARIANT(run)(const mg_dense_s8__mve_params *p, const int8_t *in, int8_t *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n * MG_OUTPUTS; i += 1u) {
        const uint32_t o = i % MG_OUTPUTS, repeated = o / 8u < MG_OUTPUTS / 8u ? 0u : (8u - MG_OUTPUTS % 8u) % 8u;
        const uint32_t at = o + repeated, lane = at % 8u / 2u;
        const int8_t *const x = in + i / MG_OUTPUTS * MG_INPUTS, *const block = p->stream + (at / 8u * 2u + at % 2u) * MG_BLOCK;
        int32_t rest[3], sum = 0;
        for (uint32_t k = 0u; k < MG_INPUTS; k += 1u) {
            sum += x[k] * block[k / 16u * 64u + lane * 16u + k % 16u];
        }
        for (uint32_t k = 0u; k < 3u; k += 1u) {
            (void)memcpy(&rest[k], block + (MG_BLOCK - 48) + k * 16u + lane * 4u, 4u);
        }
        sum = MG_SCALED(sum + rest[0], rest[1], rest[2]) + p->out_zero_point;
        out[i] = (int8_t)mg_clamp(sum, p->out_min, p->out_max);
    }
}
#endif

/* Reading whole vectors of the last pixel may go beyond the tensor. If so, the last two or three pixels are computed
 * from a copy in scratch. */
MG_LINKAGE void MG_KERNEL(const mg_dense_s8__mve_params *p, const int8_t *in, int8_t *out, int8_t *scratch, uint32_t n)
{
    const uint32_t spare = MG_INPUTS % 16 == 0 ? 0u : 2u + n % 2u, first = n - spare;
    if (first > 0u) {
        MG_VARIANT(run)(p, in, out, first);
    }
    if (spare > 0u) {
        mg_copy_bytes(scratch, in + first * MG_INPUTS, spare * MG_INPUTS);
        MG_VARIANT(run)(p, scratch, out + first * MG_OUTPUTS, spare);
    }
}
#undef MG_BLOCK
#include "mcugen/finish_end__mve.h"
