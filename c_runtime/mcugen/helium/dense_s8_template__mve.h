/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel MG_KERNEL of dense_s8__mve.h.
 *
 * MG_LINEAR  1: _linear and _clamp; 2: _once; 3: _float; else 0
 * MG_CLAMP   1: _clamp, _once_clamp and _float; else 0
 * MG_LONG    1: _long; else 0
 * MG_DENSE   type and name of the function, if it is not the kernel itself
 *
 * ADR counts from an address that is a multiple of 4, so the functions that use it are aligned to 4: at -Os and -O1
 * compilers place functions at any even address.
 */
#include "mcugen/dense_s8__mve.h"
#include "mcugen/dense_s8_asm__mve.h"
#include "mcugen/variant.h"

#if MG_HAS_MVE
#if MG_LONG
/* Step 0, then up to 7 steps by a computed jump, then 8 steps at a time. r7: number of groups of 8 steps left */
#define MG_STEPS_OF(step, count, first, second) \
    step("", "vldrb.u8", "[r9]", "[r11]")       \
    "ldr pc, [sp, #" first "]\n"                \
    ".set offset, 112\n"                        \
    ".rept 7\n"                                 \
    step("a", "vldrb.u8", "[r9, #offset]", "[r11, #offset]") \
    ".set offset, offset - 16\n"                \
    ".endr\n"                                   \
    "3:\n"                                      \
    "ldr r7, [sp, #" second "]\n"               \
    "add r9, r9, r7\n"                          \
    "add r11, r11, r7\n"                        \
    "ldr r7, [sp, #" second " + 4]\n"           \
    "7:\n"                                      \
    ".set offset, 0\n"                          \
    ".rept 8\n"                                 \
    step("a", "vldrb.u8", "[r9, #offset]", "[r11, #offset]") \
    ".set offset, offset + 16\n"                \
    ".endr\n"                                   \
    "add r9, r9, #128\n"                        \
    "add r11, r11, #128\n"                      \
    "subs r7, r7, #1\n"                         \
    "bne 7b\n"                                  \
    "ldr r7, [sp, #" second " + 8]\n"           \
    "sub r9, r9, r7\n"                          \
    "sub r11, r11, r7\n"
#define MG_BASE "0"
/* Input: r8: number of steps. Results: r8: steps of the computed jump; on the stack: bytes of the steps before the
 * groups of 8 steps, number of these groups, bytes of all steps. */
#define MG_COUNTS(second)                 \
    "sub r12, r8, #1\n"                   \
    "and r14, r12, #7\n"                  \
    "lsr r12, r12, #3\n"                  \
    "lsl r10, r8, #4\n"                   \
    "mov r8, r14\n"                       \
    "add r14, r14, #1\n"                  \
    "lsl r14, r14, #4\n"                  \
    "str r14, [sp, #" second "]\n"        \
    "str r12, [sp, #" second " + 4]\n"    \
    "str r10, [sp, #" second " + 8]\n"
#else
/* Step 0, then up to 14 more steps by a computed jump, down to step 1. */
#define MG_STEPS_OF(step, count, first, second) \
    step("", "vldrb.u8", "[r9, #-112]", "[r11, #-112]") \
    "ldr pc, [sp, #" first "]\n"                \
    ".set offset, 112\n"                        \
    ".rept 14\n"                                \
    step("a", "vldrb.u8", "[r9, #offset]", "[r11, #offset]") \
    ".set offset, offset - 16\n"                \
    ".endr\n"                                   \
    "3:\n"
#define MG_BASE "112"
#define MG_COUNTS(second) "sub r8, r8, #1\n"
#endif

/* Computes two pixels at a time. n is even and not 0, out_c >= 4.
 * Stack, offset from sp: 0: start of the last pixel's outputs, 4: in_c, 8: out_c, 12: stream, 16: jump target, 20: end
 * of the full blocks, 24: end of all blocks, 28: number of outputs that the last block repeats, 32: see MG_COUNTS */
static __attribute__((naked, aligned(4))) void MG_VARIANT(pairs)(const mg_dense_s8__mve_params *p MCUGEN_UNUSED, const int8_t *in MCUGEN_UNUSED, int8_t *out MCUGEN_UNUSED, uint32_t n MCUGEN_UNUSED)
{
    __asm__ volatile(
        MG_ENTER("48")
        "ldrd r5, r6, [r0]\n"
        "ldrd r4, r8, [r0, #8]\n"
        MG_LIMITS("16", "18", "20")
        "lsl r9, r8, #6\n"
        "add r9, r9, #48\n"
        MG_ENDS("r10", "r9", "r12", "r11")
        "sub r3, r3, #1\n"
        "mla r3, r3, r4, r2\n"
        "strd r3, r6, [sp, #0]\n"
        "strd r4, r5, [sp, #8]\n"
        "str r10, [sp, #20]\n"
        "strd r12, r11, [sp, #24]\n"
        MG_COUNTS("32")
        "adr r12, 3f\n"
        "mov r10, #56\n"
        "mls r12, r8, r10, r12\n"
        "orr r12, r12, #1\n"
        "str r12, [sp, #16]\n"
        "add r9, r1, #" MG_BASE "\n"
        "add r11, r9, r6\n"
        "mov r1, r2\n"
        "add r3, r1, r4\n"
        "2:\n"
        MG_STEPS_OF(MG_STEP_PAIR, "14", "16", "32")
        MG_FINISH_PAIR
        "ldrd r0, r2, [sp, #20]\n"
        "cmp r5, r0\n"
        "blo.w 2b\n"
        "cmp r5, r2\n"
        "bne 4f\n"
        "ldmia sp, {r0, r2, r4, r5}\n"
        "mov r1, r3\n"
        "add r3, r3, r4\n"
        "add r9, r11, r2\n"
        "add r11, r9, r2\n"
        "cmp r1, r0\n"
        "blo.w 2b\n"
        "b 6f\n"
        MG_AGAIN("28")
        "6:\n"
        MG_LEAVE("48"));
}

/* Computes one pixel. Stack, offset from sp: 0: jump target, 4: see MG_COUNTS */
static __attribute__((naked, aligned(4))) void MG_VARIANT(one)(const mg_dense_s8__mve_params *p MCUGEN_UNUSED, const int8_t *in MCUGEN_UNUSED, int8_t *out MCUGEN_UNUSED)
{
    __asm__ volatile(
        MG_ENTER("16")
        "ldr r5, [r0]\n"
        "ldrd r4, r8, [r0, #8]\n"
        "vctp.32 r4\n"
        MG_LIMITS("16", "18", "20")
        "add r9, r1, #" MG_BASE "\n"
        "mov r1, r2\n"
        "lsl r12, r8, #6\n"
        "add r12, r12, #48\n"
        MG_ENDS("r3", "r12", "r2", "r6")
        MG_COUNTS("4")
        "adr r12, 3f\n"
        "mov r10, #36\n"
        "mls r12, r8, r10, r12\n"
        "orr r12, r12, #1\n"
        "str r12, [sp]\n"
        "2:\n"
        MG_STEPS_OF(MG_STEP_ONE, "9", "0", "4")
        MG_FINISH_ONE
        "cmp r5, r3\n"
        "blo.w 2b\n"
        "cmp r5, r2\n"
        "itt ne\n"
        "subne r1, r1, r6\n"
        "bne.w 2b\n"
        MG_LEAVE("16"));
}
#undef MG_STEPS_OF
#undef MG_BASE
#undef MG_COUNTS
#else
/* Computes 4 outputs of a pixel, a block of the stream. */
static void MG_VARIANT(block)(const mg_dense_s8__mve_params *p, const int8_t *x, const int8_t *w, int8_t *out, uint32_t outputs)
{
    for (uint32_t o = 0u; o < outputs; o += 1u) {
        int32_t rest[3];
        int32_t sum = 0;
        for (uint32_t k = 0u; k < p->in_c; k += 1u) {
            const uint32_t step = k / 16u, stored = step == 0u || step >= p->first ? step : p->first - step;
            sum += x[k] * w[stored * 64u + o * 16u + k % 16u];
        }
        for (uint32_t k = 0u; k < 3u; k += 1u) {
            (void)memcpy(&rest[k], w + p->steps * 64u + k * 16u + o * 4u, 4u);
        }
        out[o] = (int8_t)mg_clamp(MG_SCALED(sum + rest[0], rest[1], rest[2]) + p->out_zero_point, p->out_min, p->out_max);
    }
}

static void MG_VARIANT(one)(const mg_dense_s8__mve_params *p, const int8_t *in, int8_t *out)
{
    const uint32_t nbytes = p->steps * 64u + 48u, outputs = p->out_c < 4u ? p->out_c : 4u;
    for (uint32_t o = 0u; o < p->out_c; o += 4u) {
        const uint32_t first = o + outputs <= p->out_c ? o : p->out_c - outputs;
        MG_VARIANT(block)(p, in, p->stream + o / 4u * nbytes, out + first, outputs);
    }
}

static void MG_VARIANT(pairs)(const mg_dense_s8__mve_params *p, const int8_t *in, int8_t *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        MG_VARIANT(one)(p, in + i * p->in_c, out + i * p->out_c);
    }
}
#endif

static void MG_VARIANT(run)(const mg_dense_s8__mve_params *p, const int8_t *in, int8_t *out, uint32_t n)
{
    const uint32_t even = p->out_c < 4u ? 0u : n & ~1u;
    if (even > 0u) {
        MG_VARIANT(pairs)(p, in, out, even);
    }
    for (uint32_t i = even; i < n; i += 1u) {
        MG_VARIANT(one)(p, in + i * p->in_c, out + i * p->out_c);
    }
}

#ifndef MG_DENSE
#define MG_DENSE void MG_KERNEL
#endif

MG_DENSE(const mg_dense_s8__mve_params *p, const int8_t *in, int8_t *out, int8_t *scratch, uint32_t n)
{
    const uint32_t spare = p->last + (uint32_t)(p->last != 0u && (n - p->last) % 2u != 0u);
    const uint32_t first = n > spare ? n - spare : 0u;
    MG_VARIANT(run)(p, in, out, first);
    if (n > first) {
        mg_copy_bytes(scratch, in + first * p->in_c, (n - first) * p->in_c);
        MG_VARIANT(run)(p, scratch, out + first * p->out_c, n - first);
    }
}
#undef MG_DENSE
