/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: depthwise convolution of a whole signal, see depthwise_conv2d_s8__line.h; sizes as in planar_outputs_template.h.
 */
#include "mcugen/depthwise_conv2d_s8__line.h"

MG_DECLARE_depthwise_conv2d_s8__line(MG_KERNEL);

#include "mcugen/planar_outputs_template.h"

MG_LINKAGE void MG_KERNEL(const mg_depthwise_conv2d_s8__line_params *p, const int8_t *in, int8_t *out, void *scratch)
{
    mg_s16 *const data = scratch;
    MG_VARIANT(planar)(in, data, p->in_zero_point);
    MG_VARIANT(channels)(p->finish, data, out, p->weights);
    MG_VARIANT(clamp)(out, p->out_min, p->out_max);
}
#undef MG_OUT
