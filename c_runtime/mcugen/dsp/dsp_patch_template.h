/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: an output row of a convolution that widens the taps pixel by pixel, see dsp_patch.h. MG_WHOLE: 1 if runs
 * are whole groups of four taps. Uses dsp_vector_block_template.h.
 */
#include "mcugen/dsp_clamp.h"
#include "mcugen/dsp_patch.h"
#include "mcugen/dsp_widened.h"
#include "mcugen/dsp_vector_block_template.h"
#include "mcugen/dsp_widen.h"

MG_DECLARE_dsp_patch(MG_KERNEL);

/* Collects the taps of output column x as bytes; some of them are outside the image. */
static void MG_VARIANT(edge)(const mg_dsp_patch_params *p, const int8_t *const *rows, uint32_t x, int8_t *to)
{
    const int8_t fill[4] = {p->outside, p->outside, p->outside, p->outside};
    const uint32_t channels = p->in_c;
    for (uint32_t i = 0u; i < p->kernel_h; i += 1u) {
        for (uint32_t j = 0u; j < p->kernel_w; j += 1u) {
            const int32_t column = (int32_t)(x * p->stride_w + j * p->dilation_w) - (int32_t)p->pad_w;
            const uint32_t step = column >= 0 && column < (int32_t)p->in_w ? 1u : 0u;
            mg_dsp_copy_bytes(to, step != 0u ? rows[i] + (uint32_t)column * channels : fill, channels, step);
            to += channels;
        }
    }
}

/* Collects the taps of an output column that reads inside the image only, from element `at` of the rows on. */
static void MG_VARIANT(inside)(const mg_dsp_patch_params *p, const int8_t *const *rows, uint32_t at, mg_s16 *x)
{
    int8_t *to = (int8_t *)x + p->length;
    for (uint32_t i = 0u; i < p->kernel_h; i += 1u) {
        const int8_t *from = rows[i] + at;
        for (uint32_t j = 0u; j < p->runs; j += 1u) {
#if MG_WHOLE
            mg_dsp_widen_swapped(from, x, p->run_length / 4u);
            x += p->run_length;
#else
            mg_dsp_copy_bytes(to, from, p->run_length, 1u);
            to += p->run_length;
#endif
            from += p->run_stride;
        }
    }
    (void)to;
}

MG_LINKAGE void MG_KERNEL(const mg_dsp_patch_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, mg_s16 *scratch)
{
    mg_dsp_vector_job job = {scratch, scratch + p->length, out, p->out_c, p->stream};
    int8_t *const bytes = (int8_t *)scratch + p->length;
    (void)y;
    for (uint32_t x = 0u; x < p->out_w; x += 1u) {
        const uint32_t is_inside = x >= p->inside_first && x < p->inside_end ? 1u : 0u;
        if (is_inside != 0u) {
            MG_VARIANT(inside)(p, rows, (x * p->stride_w - p->pad_w) * p->in_c, scratch);
        } else {
            MG_VARIANT(edge)(p, rows, x, bytes);
        }
        if (MG_WHOLE == 0 || is_inside == 0u) {
            mg_dsp_widen_swapped(bytes, scratch, (p->taps + 3u) / 4u);
        }
        MG_VARIANT(vector)(&job);
        job.out += p->out_c;
    }
    if (p->clamps != 0u) {
        mg_dsp_clamp(out, p->low, p->high, (uint32_t)p->out_w * p->out_c);
    }
}
