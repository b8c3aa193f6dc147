/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: widens a row of an image. MG_WIDEN: its layout, see dsp_ring.h.
 */
#include "mcugen/dsp_ring.h"
#include "mcugen/dsp_widen.h"

MG_LINKAGE void MG_VARIANT(row)(const mg_dsp_ring_params *p, const int8_t *in, mg_s16 *row)
{
    const uint32_t n = (uint32_t)p->in_w * p->in_c, end = p->pad_left + (uint32_t)p->in_w * p->in_step;
    mg_s16 *const inside = row + p->pad_left;
    if (in == NULL) {
        mg_dsp_fill(row, p->outside, p->row_length);
        return;
    }
    mg_dsp_fill(row, p->outside, p->pad_left);
    mg_dsp_fill(row + end, p->outside, p->row_length - end);
#if MG_WIDEN == 0
    mg_dsp_widen_swapped(in, inside, n / 4u);
#elif MG_WIDEN == 1
    const uint32_t whole = (p->pad_left & 1u) != 0u ? 0u : n & ~3u;
    mg_dsp_widen_ordered(in, inside, whole / 4u);
    mg_dsp_widen_each(in + whole, inside + whole, n - whole);
#else
    (void)n;
    for (uint32_t i = 0u; i < p->in_w; i += 1u) {
        mg_s16 *const pixel = inside + i * p->in_step;
        mg_dsp_widen_each(in + i * p->in_c, pixel, p->in_c);
        mg_dsp_fill(pixel + p->in_c, p->outside, (uint32_t)p->in_step - p->in_c);
    }
#endif
}
