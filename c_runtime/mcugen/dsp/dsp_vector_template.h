/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: matrix-vector products on cores with SMLAD; each vector is widened first. Uses dsp_vector_block_template.h.
 */
#include "mcugen/dsp_clamp.h"
#include "mcugen/dsp_widened.h"
#include "mcugen/dsp_vector_block_template.h"
#include "mcugen/dsp_widen.h"

MG_DECLARE_dsp_vector(MG_KERNEL);

MG_LINKAGE void MG_KERNEL(const mg_dsp_vector_params *p, const int8_t *in, int8_t *out, mg_s16 *scratch, uint32_t n)
{
    mg_dsp_vector_job job = {scratch, scratch + p->length, out, p->out_len, p->stream};
    const uint32_t k = p->in_len, groups = k / 4u;
#ifdef MG_SUMMED
    mg_s16 *const taps = scratch + 2;
#else
    mg_s16 *const taps = scratch;
#endif
    for (uint32_t i = 0u; i < n; i += 1u) {
        const int8_t *const x = in + i * k;
        if (k < 4u) {
            mg_dsp_widen_each(x, taps, k);
        } else {
            mg_dsp_widen_swapped(x, taps, groups);
            if ((k & 3u) != 0u) {
                mg_dsp_widen_swapped(x + k - 4, taps + 4u * groups, 1u);
            }
        }
#ifdef MG_SUMMED
        mg_dsp_sum_vector(taps, (k + 3u) / 4u);
#endif
        job.out = out + i * p->out_len;
        MG_VARIANT(vector)(&job);
    }
    if (p->clamps != 0u) {
        mg_dsp_clamp(out, p->low, p->high, n * p->out_len);
    }
}
