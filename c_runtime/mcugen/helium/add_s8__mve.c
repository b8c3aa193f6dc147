/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/add_s8__mve.h"

#if MG_HAS_MVE
/* Computes 8 elements. loads, store: VPST instructions that predicate the loads and the store; t: "t" if there are any.
 */
#define EIGHT(loads, store, t)              \
    loads                                   \
    "vldrb" t ".s16 q0, [r1], #8\n"         \
    "vldrb" t ".u16 q2, [r2], #8\n"         \
    "vmovlt.s16 q1, q0\n"                   \
    "vmovlt.u16 q3, q2\n"                   \
    "vmovlb.s16 q0, q0\n"                   \
    "vmovlb.u16 q2, q2\n"                   \
    "vldrw.u32 q4, [r4, q2, uxtw #2]\n"     \
    "vmla.s32 q4, q0, r5\n"                 \
    "vldrw.u32 q5, [r4, q3, uxtw #2]\n"     \
    "vmla.s32 q5, q1, r5\n"                 \
    "vqrdmulh.s32 q4, q4, r6\n"             \
    "vqrdmulh.s32 q5, q5, r6\n"             \
    "vshr.s32 q0, q4, #31\n"                \
    "vshr.s32 q1, q5, #31\n"                \
    "vadd.i32 q4, q4, q0\n"                 \
    "vadd.i32 q5, q5, q1\n"                 \
    "vrshl.s32 q4, r7\n"                    \
    "vrshl.s32 q5, r7\n"                    \
    "vqmovnb.s32 q4, q4\n"                  \
    "vqmovnt.s32 q4, q5\n"                  \
    "vqadd.s16 q4, q4, r8\n"                \
    "vqmovnb.s16 q4, q4\n"                  \
    "vmax.s8 q4, q4, q6\n"                  \
    "vmin.s8 q4, q4, q7\n"                  \
    store                                   \
    "vstrb" t ".16 q4, [r3], #8\n"

static __attribute__((naked)) void add(const mg_add_s8__mve_params *p MCUGEN_UNUSED, const int8_t *wide MCUGEN_UNUSED, const int8_t *narrow MCUGEN_UNUSED, int8_t *out MCUGEN_UNUSED, uint32_t n MCUGEN_UNUSED)
{
    __asm__ volatile(
        "push {r4-r10, lr}\n"
        "vpush {d8-d15}\n"
        "ldr r9, [sp, #96]\n"
        "ldrd r4, r5, [r0]\n"
        "ldrd r6, r7, [r0, #8]\n"
        "rsb r7, r7, #0\n"
        "ldrd r8, r10, [r0, #16]\n"
        "vdup.8 q6, r10\n"
        "ldr r10, [r0, #24]\n"
        "vdup.8 q7, r10\n"
        "lsr r10, r9, #3\n"
        "and r9, r9, #7\n"
        "wls lr, r10, 2f\n"
        "1:\n"
        EIGHT("", "", "")
        "le lr, 1b\n"
        "2:\n"
        "vctp.16 r9\n"
        EIGHT("vpstt\n", "vpst\n", "t")
        "3:\n"
        "vpop {d8-d15}\n"
        "pop {r4-r10, pc}\n");
}
#undef EIGHT
#else
static void add(const mg_add_s8__mve_params *p, const int8_t *wide, const int8_t *narrow, int8_t *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        const int32_t fine = p->narrow_terms[(uint8_t)narrow[i]] + wide[i] * p->wide_factor;
        out[i] = (int8_t)mg_clamp(mg_requantize(fine, p->out_mult, -p->out_shift) + p->out_zero_point, p->out_min, p->out_max);
    }
}
#endif

void mg_add_s8__mve(const mg_add_s8__mve_params *p, const int8_t *a, const int8_t *b, int8_t *out, uint32_t n)
{
    if (p->narrow_first != 0u) {
        add(p, b, a, out, n);
    } else {
        add(p, a, b, out, n);
    }
}
