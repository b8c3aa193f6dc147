/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: a 1x1 convolution of n pixels. MG_WORDS: words of two channels that are unrolled. Uses
 * dsp_block_template.h.
 */
#include "mcugen/dsp_run.h"
#include "mcugen/dsp_clamp.h"
#ifdef MG_SUMMED
#include "mcugen/dsp_sums.h"
#endif
#include "mcugen/dsp_widen.h"

#define MG_QUADS (MG_WORDS / 2)
#define MG_PAIR (MG_WORDS % 2)
#define MG_SEGMENTS 0
#define MG_STEP 0
#define MG_REST 0
#include "mcugen/dsp_block_template.h"

MG_DECLARE_dsp_run(MG_KERNEL);

/* Gathers the channels of three pixels, which are pixel_step elements apart. */
static inline void MG_VARIANT(gather)(const int8_t *x, uint32_t pixel_step, uint32_t in_c, mg_s16 *taps)
{
    const uint32_t groups = in_c / 4u;
    const int8_t *const rest = x + in_c - 4;
#ifdef MG_SUMMED
    mg_dsp_sums sums = {{0u, 0u, 0u}, MG_DSP_SUMMED, taps, taps + 6u + (in_c + 3u) / 4u * 12u};
    taps += 6;
    mg_dsp_gather_bytes_summed(x, x + pixel_step, x + 2u * pixel_step, taps, groups, &sums);
    if ((in_c & 3u) != 0u) {
        mg_dsp_gather_bytes_summed(rest, rest + pixel_step, rest + 2u * pixel_step, taps + groups * 12u, 1u, &sums);
    }
    mg_dsp_store_sums(&sums);
#else
    mg_dsp_gather_bytes(x, x + pixel_step, x + 2u * pixel_step, taps, groups);
    if ((in_c & 3u) != 0u) {
        mg_dsp_gather_bytes(rest, rest + pixel_step, rest + 2u * pixel_step, taps + groups * 12u, 1u);
    }
#endif
}

/* Computes blocks of three pixels. The last block ends with the last pixel and may overlap the block before. If n is 1
 * or 2, each pixel fills a block of its own, three times. */
MG_LINKAGE void MG_KERNEL(const mg_dsp_run_params *p, const int8_t *in, int8_t *out, mg_s16 *scratch, uint32_t n)
{
    const int32_t *const last = p->stream + p->last;
    const uint32_t in_c = p->in_c, out_c = p->out_c, at_once = n < 3u ? 1u : 3u, pixel_step = n < 3u ? 0u : in_c;
    mg_dsp_job job = {scratch, p->stream + p->pairs_end, (uintptr_t)(scratch + p->words * 6u), out, out_c, p->stream, 1u};
    if (n < 3u) {
        job.out_c = 0u;
    }
    for (uint32_t i = 0u; i < n; i += at_once) {
        const uint32_t first = i + at_once <= n ? i : n - at_once;
        job.out = out + first * out_c;
        MG_VARIANT(gather)(in + first * in_c, pixel_step, in_c, scratch);
        MG_VARIANT(channels)(&job, last, out_c, 3u);
    }
    if (p->clamps != 0u) {
        mg_dsp_clamp(out, p->low, p->high, n * out_c);
    }
}

#undef MG_QUADS
#undef MG_PAIR
#undef MG_SEGMENTS
#undef MG_STEP
#undef MG_REST
