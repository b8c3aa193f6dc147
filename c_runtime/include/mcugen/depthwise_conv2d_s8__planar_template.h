/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: depthwise convolution on planar rows, see depthwise_conv2d_s8__planar.h; sizes as in planar_outputs_template.h.
 */
#include "mcugen/depthwise_conv2d_s8__planar.h"

MG_DECLARE_depthwise_conv2d_s8__planar(MG_KERNEL);

#include "mcugen/planar_outputs_template.h"

MG_LINKAGE void MG_VARIANT(row)(const mg_depthwise_conv2d_s8__planar_params *p, const int8_t *in, mg_s16 *row)
{
    MG_VARIANT(planar)(in, row, p->in_zero_point);
}

MG_LINKAGE void MG_KERNEL(const mg_depthwise_conv2d_s8__planar_params *p, const mg_s16 *const *rows, int8_t *out)
{
    uint32_t first = 0u; /* the kernel row that lies first in memory */
    for (uint32_t k = 1u; k < MG_H; k += 1u) {
        first = rows[k] < rows[k - 1u] ? k : first;
    }
    MG_VARIANT(channels)(p->finish, rows[first], out, p->weights + first * (MG_PARTS * MG_WORDS));
    MG_VARIANT(clamp)(out, p->out_min, p->out_max);
}
#undef MG_OUT
