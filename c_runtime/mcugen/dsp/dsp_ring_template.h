/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: a convolution on widened rows, on top of dsp_block_template.h.
 *
 * MG_KERNEL_H rows, each of MG_SPLIT runs of taps; MG_WIDEN: dsp_ring.h.
 */
#include "mcugen/dsp_clamp.h"
#include "mcugen/dsp_row_template.h"

#define MG_SEGMENTS (MG_KERNEL_H * MG_SPLIT)
#include "mcugen/dsp_block_template.h"

MG_DECLARE_DSP_RING(MG_KERNEL);

MG_LINKAGE void MG_KERNEL(const mg_dsp_ring_params *p, const mg_s16 *const *rows, int8_t *out)
{
    const uint32_t n = p->out_w, threes = p->threes;
    const int32_t *const last = p->stream + p->last;
#if MG_SPLIT > 1
    const mg_s16 *runs[MG_SEGMENTS];
    for (uint32_t i = 0u; i < MG_SEGMENTS; i += 1u) {
        runs[i] = rows[i / MG_SPLIT] + p->runs[i % MG_SPLIT];
    }
    mg_dsp_job job = {runs, 0u, out, p->out_c, p->stream + p->whole, p->stream};
#else
    mg_dsp_job job = {rows, 0u, out, p->out_c, p->stream + p->whole, p->stream};
#endif
    for (uint32_t i = 0u; i < threes; i += 3u) {
        MG_VARIANT(channels)(&job, last, p->out_c, 3u);
        job.x_end += 3u * MG_STEP;
        job.out += 3u * p->out_c;
    }
    if (n == 1u) {
        job.out_c = 0u;
    }
    for (uint32_t i = threes; i < n; i += 2u) {
        MG_VARIANT(channels)(&job, last, p->out_c, 2u);
        job.x_end += 2u * MG_STEP;
        job.out += 2u * p->out_c;
    }
    if (p->clamps != 0u) {
        mg_dsp_clamp(out, p->low, p->high, n * p->out_c);
    }
}

#undef MG_SEGMENTS
