/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: depthwise convolution of a whole signal, see planar_s8.h. Sizes: see planar_outputs_template.h.
 */
#include "mcugen/planar_s8.h"

MG_DECLARE_depthwise_conv2d_s8__line(MG_KERNEL);

#define MG_SLICED 0
#define MG_ANY 0
#include "mcugen/planar_outputs_template.h"

MG_LINKAGE void MG_KERNEL(const mg_planar_s8_params *p, const int8_t *in, int8_t *out, void *scratch)
{
    mg_s16 *const data = scratch;
    mg_planar_s8_row(p, in, data);
    MG_VARIANT(channels)(p->finish, data, out, p->weights, p->channels);
    if (p->clamps != 0u) {
        mg_planar_s8_clamp(p, out, (uint32_t)MG_OUT * p->channels);
    }
}
#undef MG_CHANNEL
#undef MG_COLUMNS
#undef MG_OUT
#undef MG_ANY
#undef MG_SLICED
