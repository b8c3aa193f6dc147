/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: an output row of a convolution that widens taps as they are read, see dsp_windows.h. Uses
 * dsp_vector_block_template.h.
 */
#define MG_DIRECT
#define MG_WINDOWS
#include "mcugen/dsp_clamp.h"
#include "mcugen/dsp_windows.h"
#include "mcugen/dsp_vector_block_template.h"
#undef MG_DIRECT
#undef MG_WINDOWS

MG_DECLARE_dsp_windows(MG_KERNEL);

MG_LINKAGE void MG_KERNEL(const mg_dsp_windows_params *p, const int8_t *const *rows, uint32_t y, int8_t *out)
{
    mg_dsp_windows_job job = {rows, rows + p->kernel_h, out, p->out_c, p->first, NULL, NULL, p->biases, p->stream};
    const uint32_t *edges = p->edges;
    (void)y;
    for (uint32_t x = 0u; x < p->out_w; x += 1u) {
        job.edges = NULL;
        if (x < p->inside_first || x >= p->inside_end) {
            job.edges = edges;
            edges += 2u * p->words;
            job.edges_end = edges;
        }
        MG_VARIANT(vector)(&job);
        if (job.edges != NULL) {
            job.biases += 4u * p->blocks;
        }
        job.out += p->out_c;
        job.at += p->step;
    }
    if (p->clamps != 0u) {
        mg_dsp_clamp(out, p->low, p->high, (uint32_t)p->out_w * p->out_c);
    }
}
