/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: the Fourier transform of MG_COUNT vectors of real numbers, with the sizes in fourier_stages_template.h.
 */
#define MG_ENERGY 0
#include "mcugen/fourier_stages_template.h"

MG_DECLARE_real_fourier_s16__stages(MG_KERNEL);

MG_LINKAGE void MG_KERNEL(const mg_fourier_stages_params *p, const mg_s16 *in, mg_s16 *out)
{
    for (uint32_t i = 0u; i < MG_COUNT; i += 1u) {
        (void)MG_VARIANT(place)(p, in, out);
        MG_VARIANT(run)(p, out, 0u);
        MG_VARIANT(spectrum)(p, out);
        in += MG_SAMPLES;
        out += 2u * MG_POINTS + 2u;
    }
}

#undef MG_ENERGY
