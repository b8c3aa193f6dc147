/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: depthwise convolution on planar rows of any width, see planar_s8.h. Sizes: see planar_outputs_template.h.
 * One copy serves all widths; it is a little slower than a copy with all sizes known.
 */
#include "mcugen/planar_s8.h"

MG_DECLARE_depthwise_conv2d_s8__planar_blocks(MG_KERNEL);

#define MG_SLICED 0
#define MG_ANY 1
#define MG_BLOCKS 2
#define MG_TAIL 0
#include "mcugen/planar_outputs_template.h"

MG_LINKAGE void MG_VARIANT(row)(const mg_planar_s8_params *p, const int8_t *in, mg_s16 *row)
{
    mg_planar_s8_row(p, in, row);
}

MG_LINKAGE void MG_KERNEL(const mg_planar_s8_params *p, const mg_s16 *const *rows, int8_t *out)
{
    const uint32_t first = mg_planar_s8_first(rows, MG_H);
    const int32_t *const weights = p->weights + first * (MG_PARTS * MG_WORDS);
    MG_VARIANT(channels)(p->finish, rows[first], out, weights, p->channels, p->columns, p->outputs);
    if (p->clamps != 0u) {
        mg_planar_s8_clamp(p, out, (uint32_t)p->outputs * p->channels);
    }
}
#undef MG_TAIL
#undef MG_BLOCKS
#undef MG_CHANNEL
#undef MG_COLUMNS
#undef MG_OUT
#undef MG_ANY
#undef MG_SLICED
