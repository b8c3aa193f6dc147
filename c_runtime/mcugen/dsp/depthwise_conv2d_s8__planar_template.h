/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: depthwise convolution on planar rows, see planar_s8.h. Sizes: see planar_outputs_template.h.
 *
 * MG_IN_W, MG_PAD  columns of an input row, and of padding before it, if rows are so short that special code converts
 *                  them; else 0
 */
#include "mcugen/planar_s8.h"

MG_DECLARE_depthwise_conv2d_s8__planar(MG_KERNEL);

#define MG_SLICED 0
#define MG_ANY 0
#include "mcugen/planar_outputs_template.h"

#if MG_IN_W > 0 && defined(__ARM_FEATURE_DSP) && defined(__GNUC__)

#include "mcugen/planar_rows_template.h"

MG_LINKAGE void MG_VARIANT(row)(const mg_planar_s8_params *p, const int8_t *in, mg_s16 *row)
{
    if (in != NULL && p->slice >= 4u) {
        MG_VARIANT(spread)(p, in, row);
    } else {
        mg_planar_s8_row(p, in, row);
    }
}

#else

MG_LINKAGE void MG_VARIANT(row)(const mg_planar_s8_params *p, const int8_t *in, mg_s16 *row)
{
    mg_planar_s8_row(p, in, row);
}

#endif

MG_LINKAGE void MG_KERNEL(const mg_planar_s8_params *p, const mg_s16 *const *rows, int8_t *out)
{
    const uint32_t first = mg_planar_s8_first(rows, MG_H);
    MG_VARIANT(channels)(p->finish, rows[first], out, p->weights + first * (MG_PARTS * MG_WORDS), p->channels);
    if (p->clamps != 0u) {
        mg_planar_s8_clamp(p, out, (uint32_t)MG_OUT * p->channels);
    }
}
#undef MG_CHANNEL
#undef MG_COLUMNS
#undef MG_OUT
#undef MG_ANY
#undef MG_SLICED
