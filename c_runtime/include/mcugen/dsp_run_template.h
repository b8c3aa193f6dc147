/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: a 1x1 convolution on runs of pixels, on top of dsp_block_template.h. MG_TAIL: in_c % 4, without MG_LOOP.
 */
#include "mcugen/dsp_run.h"
#include "mcugen/dsp_clamp.h"
#include "mcugen/dsp_widen.h"

#define MG_SEGMENTS 0
#define MG_PAIR 0
#define MG_STEP 0
#define MG_REST 0
#include "mcugen/dsp_block_template.h"

MG_DECLARE_DSP_RUN(MG_KERNEL);

/* Widens three pixels; `skip` bytes stand between them. */
#if !MG_LOOP && defined(__ARM_FEATURE_DSP) && defined(__GNUC__)

#define MG_WIDEN(from) from "sxtb16 r3, r12\nsxtb16 r12, r12, ror #8\nstrd r3, r12, [r1], #24\n"

__attribute__((naked, noinline)) static void MG_VARIANT(gather)(
    const int8_t *in MCUGEN_UNUSED, mg_s16 *x MCUGEN_UNUSED, int32_t skip MCUGEN_UNUSED)
{
    __asm__(".set mg_quads, " MG_TEXT(MG_QUADS) "\n"
            ".set mg_tail, " MG_TEXT(MG_TAIL) "\n"
            "push {r4, lr}\n"
            "mov r4, #3\n"
            "1:\n"
            ".if mg_tail\n"
            ".rept mg_quads-1\n" MG_WIDEN("ldr r12, [r0], #4\n") ".endr\n"
            MG_WIDEN("ldr r12, [r0, #mg_tail-4]\n")
            "add r0, r0, #mg_tail\n"
            ".else\n"
            ".rept mg_quads\n" MG_WIDEN("ldr r12, [r0], #4\n") ".endr\n"
            ".endif\n"
            "add r0, r0, r2\n"
            "sub r1, r1, #24*mg_quads-8\n"
            "subs r4, r4, #1\n"
            "bne 1b\n"
            "pop {r4, pc}\n");
}

#undef MG_WIDEN
#define MG_GATHER(in, x, in_c, skip) MG_VARIANT(gather)(in, x, skip)

#else

static void MG_VARIANT(gather)(const int8_t *in, mg_s16 *x, uint32_t in_c, int32_t skip)
{
    for (uint32_t i = 0u; i < 3u; i += 1u) {
        const int8_t *const pixel = in + (int32_t)i * ((int32_t)in_c + skip);
        mg_dsp_widen_apart(pixel, x + i * 4u, in_c / 4u);
        if ((in_c & 3u) != 0u) {
            mg_dsp_widen_apart(pixel + in_c - 4, x + (in_c / 4u * 3u + i) * 4u, 1u);
        }
    }
}

#define MG_GATHER(in, x, in_c, skip) MG_VARIANT(gather)(in, x, in_c, skip)

#endif

/* Blocks of three pixels: the last begins where it must to end with the last pixel. Fewer than three pixels are computed
 * one by one, each as three that are the same. */
MG_LINKAGE void MG_KERNEL(const mg_dsp_run_params *p, const int8_t *in, int8_t *out, mg_s16 *scratch, uint32_t n)
{
    const int32_t *const last = p->stream + p->last;
    const uint32_t in_c = p->in_c, out_c = p->out_c, at_once = n < 3u ? 1u : 3u;
    const int32_t skip = n < 3u ? -(int32_t)in_c : 0;
    mg_dsp_job job = {scratch, (uintptr_t)(scratch + p->quads * 12u), out, out_c, p->stream + p->whole, p->stream};
    if (n < 3u) {
        job.out_c = 0u;
    }
    for (uint32_t i = 0u; i < n; i += at_once) {
        const uint32_t first = i + at_once <= n ? i : n - at_once;
        job.out = out + first * out_c;
        MG_GATHER(in + first * in_c, scratch, in_c, skip);
        MG_VARIANT(channels)(&job, last, out_c, 3u);
    }
    if (p->clamps != 0u) {
        mg_dsp_clamp(out, p->low, p->high, n * out_c);
    }
}

#undef MG_SEGMENTS
#undef MG_PAIR
#undef MG_STEP
#undef MG_REST
#undef MG_GATHER
