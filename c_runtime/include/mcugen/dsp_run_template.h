/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: a 1x1 convolution on runs of pixels, on top of dsp_block_template.h. MG_TAIL: in_c % 4.
 */
#include "mcugen/dsp_run.h"
#include "mcugen/dsp_widen.h"

#define MG_SEGMENTS 0
#define MG_PAIR 0
#define MG_STEP 0
#include "mcugen/dsp_block_template.h"

MG_DECLARE_DSP_RUN(MG_KERNEL);

#if !MG_LOOP && defined(__ARM_FEATURE_DSP) && defined(__GNUC__)

#define MG_WIDEN(from) from "sxtb16 r3, r12\nsxtb16 r12, r12, ror #8\nstrd r3, r12, [r1], #mg_apart\n"
#define MG_GATHER(pixels)                                                                       \
    ".set mg_apart, 8*" pixels "\n.set mg_tail, " MG_TEXT(MG_TAIL) "\n"                         \
    ".set mg_quads, " MG_TEXT(MG_QUADS) "\n"                                                    \
    "push {r4, lr}\nmov r4, #" pixels "\n1:\n"                                                 \
    ".if mg_tail\n"                                                                             \
    ".rept mg_quads-1\n" MG_WIDEN("ldr r12, [r0], #4\n") ".endr\n"                             \
    MG_WIDEN("ldr r12, [r0, #mg_tail-4]\n") "add r0, r0, #mg_tail\n"                           \
    ".else\n.rept mg_quads\n" MG_WIDEN("ldr r12, [r0], #4\n") ".endr\n.endif\n"               \
    "add r0, r0, r2\nsub r1, r1, #mg_apart*mg_quads-8\nsubs r4, r4, #1\nbne 1b\npop {r4, pc}\n"

/* Widens 3 or 2 pixels; `skip` bytes stand between them. */
__attribute__((naked, noinline)) static void MG_VARIANT(gather3)(
    const int8_t *in MCUGEN_UNUSED, mg_s16 *x MCUGEN_UNUSED, int32_t skip MCUGEN_UNUSED)
{
    __asm__(MG_GATHER("3"));
}

__attribute__((naked, noinline)) static void MG_VARIANT(gather2)(
    const int8_t *in MCUGEN_UNUSED, mg_s16 *x MCUGEN_UNUSED, int32_t skip MCUGEN_UNUSED)
{
    __asm__(MG_GATHER("2"));
}

#undef MG_WIDEN
#undef MG_GATHER

#define MG_GATHER3(in, in_c, skip) MG_VARIANT(gather3)(in, scratch, skip)
#define MG_GATHER2(in, in_c, skip) MG_VARIANT(gather2)(in, scratch, skip)

#else

/* Widens a pixel, the first of 3 or 2. */
static void MG_VARIANT(gather)(const int8_t *pixel, mg_s16 *x, uint32_t in_c, uint32_t pixels)
{
    if (pixels == 3u) {
        mg_dsp_widen_apart3(pixel, x, in_c / 4u);
    } else {
        mg_dsp_widen_apart2(pixel, x, in_c / 4u);
    }
#if MG_TAIL
    mg_dsp_widen_apart2(pixel + in_c - 4, x + in_c / 4u * pixels * 4u, 1u);
#endif
}

static void MG_VARIANT(gather_all)(const int8_t *in, mg_s16 *x, uint32_t in_c, int32_t skip, uint32_t pixels)
{
    for (uint32_t i = 0u; i < pixels; i += 1u) {
        MG_VARIANT(gather)(in + (int32_t)i * ((int32_t)in_c + skip), x + i * 4u, in_c, pixels);
    }
}

#define MG_GATHER3(in, in_c, skip) MG_VARIANT(gather_all)(in, scratch, in_c, skip, 3u)
#define MG_GATHER2(in, in_c, skip) MG_VARIANT(gather_all)(in, scratch, in_c, skip, 2u)

#endif

MG_LINKAGE void MG_KERNEL(const mg_dsp_run_params *p, const int8_t *in, int8_t *out, mg_s16 *scratch, uint32_t n)
{
    const uint32_t threes = n % 3u == 0u ? n : n % 3u == 2u ? n - 2u : n < 4u ? 0u : n - 4u;
    const int32_t *const last = p->stream + p->last;
    const uint32_t in_c = p->in_c, out_c = p->out_c;
    mg_dsp_job job = {scratch, (uintptr_t)(scratch + p->quads * 12u), out, out_c, p->stream + p->whole, p->stream};
    for (uint32_t i = 0u; i < threes; i += 3u) {
        MG_GATHER3(in + i * in_c, in_c, 0);
        MG_VARIANT(channels)(&job, last, out_c, 3u);
        job.out += 3u * out_c;
    }
    job.x_end = (uintptr_t)(scratch + p->quads * 8u);
    job.out_c = n == 1u ? 0u : out_c;
    for (uint32_t i = threes; i < n; i += 2u) {
        MG_GATHER2(in + i * in_c, in_c, n == 1u ? -(int32_t)in_c : 0);
        MG_VARIANT(channels)(&job, last, out_c, 2u);
        job.out += 2u * out_c;
    }
    if (p->clamps != 0u) {
        for (uint32_t i = 0u; i < n * out_c; i += 1u) {
            out[i] = (int8_t)mg_clamp(out[i], p->low, p->high);
        }
    }
}

#undef MG_SEGMENTS
#undef MG_PAIR
#undef MG_STEP
#undef MG_GATHER3
#undef MG_GATHER2
