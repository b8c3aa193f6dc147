/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: the Fourier transform of MG_COUNT vectors of real numbers, with the sizes in dsp_fourier_template.h.
 */
#define MG_ENERGY 0
#include "mcugen/dsp_fourier_template.h"

MG_DECLARE_real_fourier_s16__dsp(MG_KERNEL);

MG_LINKAGE void MG_KERNEL(const mg_dsp_fourier_params *p, const mg_s16 *in, mg_s16 *out)
{
    for (uint32_t i = 0u; i < MG_COUNT; i += 1u) {
        MG_VARIANT(word) *z = (MG_VARIANT(word) *)out;
        (void)MG_VARIANT(place)(p, in, z);
        MG_VARIANT(run)(p, z, 0u, 0u);
        MG_VARIANT(spectrum)(p, z);
        in += MG_SAMPLES;
        out += 2u * MG_POINTS + 2u;
    }
}

#undef MG_ENERGY
