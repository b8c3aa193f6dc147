/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: a convolution on widened rows. Uses dsp_block_template.h.
 *
 *   MG_KERNEL_H  rows of the kernel
 *   MG_SPLIT     runs of contiguous taps in each of them
 *   MG_WIDEN     see dsp_ring.h
 *   MG_ODD       1: the number of output channels is odd
 */
#include "mcugen/dsp_clamp.h"
#include "mcugen/dsp_row_template.h"

#define MG_SEGMENTS (MG_KERNEL_H * MG_SPLIT)
#include "mcugen/dsp_block_template.h"

MG_DECLARE_dsp_ring(MG_KERNEL);

/* Computes `pixels` pixels of a row in blocks of `size`: in one call, or block by block if the number of channels is
 * odd. */
static inline void MG_VARIANT(part)(mg_dsp_job *job, const mg_dsp_ring_params *p, uint32_t pixels, uint32_t size)
{
#if MG_ODD
    for (uint32_t i = 0u; i < pixels; i += size) {
        MG_VARIANT(channels)(job, p->stream + p->last, p->out_c, size);
        job->x_end += size * MG_STEP;
        job->out += size * p->out_c;
    }
#else
    if (pixels != 0u) {
        job->blocks = (pixels + 1u) / size;
        MG_VARIANT(pixels)(job, size);
        job->x_end += pixels * MG_STEP;
        job->out += pixels * p->out_c;
    }
#endif
}

MG_LINKAGE void MG_KERNEL(const mg_dsp_ring_params *p, const mg_s16 *const *rows, int8_t *out)
{
    const uint32_t n = p->out_w;
#if MG_SPLIT > 1
    const mg_s16 *runs[MG_SEGMENTS];
    for (uint32_t i = 0u; i < MG_SEGMENTS; i += 1u) {
        runs[i] = rows[i / MG_SPLIT] + p->run_offsets[i % MG_SPLIT];
    }
    mg_dsp_job job = {runs, p->stream + p->pairs_end, 0u, out, p->out_c, p->stream, 1u};
#else
    mg_dsp_job job = {rows, p->stream + p->pairs_end, 0u, out, p->out_c, p->stream, 1u};
#endif
    MG_VARIANT(part)(&job, p, p->triples_end, 3u);
    if (n == 1u) {
        job.out_c = 0u;
    }
    MG_VARIANT(part)(&job, p, n - p->triples_end, 2u);
    if (p->clamps != 0u) {
        mg_dsp_clamp(out, p->low, p->high, n * p->out_c);
    }
}

#undef MG_SEGMENTS
