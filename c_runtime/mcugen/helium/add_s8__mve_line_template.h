/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/add_s8__mve_line.h"

MG_DECLARE_add_s8__mve_line(MG_KERNEL);

#if MG_HAS_MVE
/* Computes 8 elements. loads, store: VPST instructions that predicate the loads and the store; t: "t" if there are any.
 */
#define MG_EIGHT(loads, store, t)           \
    loads                                   \
    "vldrb" t ".s16 q0, [r1], #8\n"         \
    "vldrb" t ".s16 q1, [r2], #8\n"         \
    "vmovlb.s16 q2, q0\n"                   \
    "vmovlb.s16 q3, q1\n"                   \
    "vmovlt.s16 q0, q0\n"                   \
    "vmovlt.s16 q1, q1\n"                   \
    "vmlas.s32 q3, q4, r6\n"                \
    "vmlas.s32 q1, q4, r6\n"                \
    "vmla.s32 q3, q2, r4\n"                 \
    "vmla.s32 q1, q0, r4\n"                 \
    "vqrshrnb.s32 q3, q3, #16\n"            \
    "vqrshrnt.s32 q3, q1, #16\n"            \
    "vqrshrnb.s16 q3, q3, #6\n"             \
    ".if " MG_TEXT(MG_CLAMP) "\n"           \
    "vmax.s8 q3, q3, q5\n"                  \
    "vmin.s8 q3, q3, q6\n"                  \
    ".endif\n"                              \
    store                                   \
    "vstrb" t ".16 q3, [r3], #8\n"

MG_LINKAGE __attribute__((naked)) void MG_KERNEL(const mg_add_s8__mve_line_params *p MCUGEN_UNUSED, const int8_t *a MCUGEN_UNUSED, const int8_t *b MCUGEN_UNUSED, int8_t *out MCUGEN_UNUSED, uint32_t n MCUGEN_UNUSED)
{
    __asm__ volatile(
        "push {r4-r8, lr}\n"
        "vpush {d8-d13}\n"
        "ldr r7, [sp, #72]\n"
        "ldrd r4, r5, [r0]\n"
        "vdup.32 q4, r5\n"
        "ldrd r6, r5, [r0, #8]\n"
        "vdup.8 q5, r5\n"
        "ldr r5, [r0, #16]\n"
        "vdup.8 q6, r5\n"
        "lsr r5, r7, #3\n"
        "and r7, r7, #7\n"
        "wls lr, r5, 2f\n"
        "1:\n"
        MG_EIGHT("", "", "")
        "le lr, 1b\n"
        "2:\n"
        "vctp.16 r7\n"
        MG_EIGHT("vpstt\n", "vpst\n", "t")
        "vpop {d8-d13}\n"
        "pop {r4-r8, pc}\n");
}
#undef MG_EIGHT
#else
MG_LINKAGE void MG_KERNEL(const mg_add_s8__mve_line_params *p, const int8_t *a, const int8_t *b, int8_t *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        const int32_t sum = p->first * a[i] + p->second * b[i] + p->addend;
        const int32_t fine = ((sum >> 15) + 1) >> 1;
        out[i] = (int8_t)mg_clamp(((fine >> 5) + 1) >> 1, p->out_min, p->out_max);
    }
}
#endif
