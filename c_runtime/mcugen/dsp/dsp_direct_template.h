/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: matrix-vector products on cores with SMLAD, without scratch for widened vectors. Uses
 * dsp_vector_block_template.h.
 */
#define MG_DIRECT
#include "mcugen/dsp_clamp.h"
#include "mcugen/dsp_direct.h"
#include "mcugen/dsp_vector_block_template.h"
#undef MG_DIRECT

MG_DECLARE_dsp_direct(MG_KERNEL);

MG_LINKAGE void MG_KERNEL(const mg_dsp_vector_params *p, const int8_t *in, int8_t *out, uint32_t n)
{
    mg_dsp_direct_job job = {in, in + p->length, out, p->out_len, p->stream};
    for (uint32_t i = 0u; i < n; i += 1u) {
        MG_VARIANT(vector)(&job);
        job.x += p->in_len;
        job.x_end += p->in_len;
        job.out += p->out_len;
    }
    if (p->clamps != 0u) {
        mg_dsp_clamp(out, p->low, p->high, n * p->out_len);
    }
}
