/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: depthwise convolution on planar rows, a slice of the channels at a time, see planar_s8.h. Sizes: see
 * planar_outputs_template.h; MG_IN_W, MG_PAD: see depthwise_conv2d_s8__planar_template.h.
 */
#include "mcugen/planar_s8.h"

MG_DECLARE_depthwise_conv2d_s8__planar_slices(MG_KERNEL);

#define MG_ANY 0
#define MG_SLICED 1
#include "mcugen/planar_outputs_template.h"

#if MG_IN_W > 0 && defined(__ARM_FEATURE_DSP) && defined(__GNUC__)

#include "mcugen/planar_rows_template.h"

static inline void MG_VARIANT(slice)(const mg_planar_s8_params *p, const int8_t *in, mg_s16 *row)
{
    if (in != NULL) {
        MG_VARIANT(spread)(p, in, row);
    } else {
        mg_planar_s8_row(p, in, row);
    }
}

#else

static inline void MG_VARIANT(slice)(const mg_planar_s8_params *p, const int8_t *in, mg_s16 *row)
{
    mg_planar_s8_row(p, in, row);
}

#endif

MG_LINKAGE void MG_KERNEL(const mg_planar_s8_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, void *scratch)
{
    mg_s16 *const data = scratch;
    (void)y;
    for (uint32_t c = 0u; c < p->channels; c += p->slice) {
        const uint32_t from = mg_planar_s8_from(p, c);
        for (uint32_t k = 0u; k < MG_H; k += 1u) {
            MG_VARIANT(slice)(p, rows[k] != NULL ? rows[k] + from : NULL, data + k * MG_COLUMNS);
        }
        MG_VARIANT(channels)(p->finish + 4u * from, data, out + from, p->weights + from * (MG_H * MG_PARTS * MG_WORDS),
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
