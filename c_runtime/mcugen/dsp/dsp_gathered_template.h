/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: a convolution on widened rows that gathers the taps of three pixels at a time. One copy serves all windows,
 * strides and widths. Uses dsp_block_template.h.
 *
 *   MG_WORDS  words of two taps that are unrolled
 *   MG_WIDEN  see dsp_ring.h
 */
#include "mcugen/dsp_clamp.h"
#include "mcugen/dsp_row_template.h"
#ifdef MG_SUMMED
#include "mcugen/dsp_sums.h"
#endif

#define MG_QUADS (MG_WORDS / 2)
#define MG_PAIR (MG_WORDS % 2)
#define MG_SEGMENTS 0
#define MG_STEP 0
#include "mcugen/dsp_block_template.h"

MG_DECLARE_dsp_gathered(MG_KERNEL);

/* Gathers the taps of three pixels in x, starting at element `at` of the rows. If there are only two pixels, the second
 * is also stored as the third. */
static void MG_VARIANT(gather)(const mg_dsp_ring_params *p, const mg_s16 *const *rows, uint32_t at, mg_s16 *x,
                               uint32_t pixels)
{
#ifdef MG_SUMMED
    const uint32_t second = p->step, third = (pixels - 1u) * second, groups = p->run_groups;
    mg_dsp_sums sums = {{0u, 0u, 0u}, MG_DSP_SUMMED, x, x + 6u + (uint32_t)p->kernel_h * p->runs_per_row * groups * 12u};
    for (uint32_t k = 0u; k < p->kernel_h; k += 1u) {
        for (uint32_t j = 0u; j < p->runs_per_row; j += 1u) {
            const mg_s16 *const run = rows[k] + p->run_offsets[j] + at;
            mg_dsp_gather_words_summed(run, run + second, run + third, x + 6u + (k * p->runs_per_row + j) * groups * 12u, groups, &sums);
        }
    }
    mg_dsp_store_sums(&sums);
#else
    const uint32_t second = 2u * p->step, groups = p->run_groups;
    const mg_dsp_runs runs = {groups, (pixels - 1u) * second, (p->runs_per_row - 1u) * groups * 24u, rows + p->kernel_h};
    for (uint32_t j = 0u; j < p->runs_per_row; j += 1u) {
        mg_dsp_gather_rows(rows, 2u * (p->run_offsets[j] + at), x + j * groups * 12u, second, &runs);
    }
#endif
}

MG_LINKAGE void MG_KERNEL(const mg_dsp_ring_params *p, const mg_s16 *const *rows, int8_t *out, mg_s16 *scratch)
{
    const uint32_t n = p->out_w, triples_end = p->triples_end;
    const int32_t *const last = p->stream + p->last;
    mg_dsp_job job = {scratch, p->stream + p->pairs_end, (uintptr_t)(scratch + p->words * 6u), out,
                      n == 1u ? 0u : p->out_c, p->stream, 1u};
    for (uint32_t i = 0u; i < triples_end; i += 3u) {
        MG_VARIANT(gather)(p, rows, i * p->step, scratch, 3u);
        MG_VARIANT(channels)(&job, last, p->out_c, 3u);
        job.out += 3u * p->out_c;
    }
    for (uint32_t i = triples_end; i < n; i += 2u) {
        MG_VARIANT(gather)(p, rows, i * p->step, scratch, 2u);
        MG_VARIANT(channels)(&job, last, p->out_c, 2u);
        job.out += 2u * p->out_c;
    }
    if (p->clamps != 0u) {
        mg_dsp_clamp(out, p->low, p->high, n * p->out_c);
    }
}

#undef MG_QUADS
#undef MG_PAIR
#undef MG_SEGMENTS
#undef MG_STEP
