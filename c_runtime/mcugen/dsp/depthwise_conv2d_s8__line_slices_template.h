/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: depthwise convolution of a whole signal, a slice of the channels at a time, see planar_s8.h. Sizes: see
 * planar_outputs_template.h.
 */
#include "mcugen/planar_s8.h"

MG_DECLARE_depthwise_conv2d_s8__line_slices(MG_KERNEL);

#define MG_ANY 0
#define MG_SLICED 1
#include "mcugen/planar_outputs_template.h"

MG_LINKAGE void MG_KERNEL(const mg_planar_s8_params *p, const int8_t *in, int8_t *out, void *scratch)
{
    mg_s16 *const data = scratch;
    for (uint32_t c = 0u; c < p->channels; c += p->slice) {
        const uint32_t from = mg_planar_s8_from(p, c);
        mg_planar_s8_row(p, in + from, data);
        MG_VARIANT(channels)(p->finish + 4u * from, data, out + from, p->weights + from * (MG_PARTS * MG_WORDS),
                             p->channels, p->slice);
    }
    if (p->clamps != 0u) {
        mg_planar_s8_clamp(p, out, (uint32_t)MG_OUT * p->channels);
    }
}
#undef MG_CHANNEL
#undef MG_COLUMNS
#undef MG_OUT
#undef MG_SLICED
#undef MG_ANY
