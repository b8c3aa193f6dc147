/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: the energies of real numbers, with the sizes in fourier_stages_template.h.
 */
#define MG_ENERGY 1
#include "mcugen/fourier_stages_template.h"

MG_DECLARE_power_spectrum(MG_KERNEL);

MG_LINKAGE void MG_KERNEL(const mg_fourier_stages_params *p, const mg_s16 *in, mg_u32 *out)
{
    mg_s16 *z = (mg_s16 *)out;
    (void)MG_VARIANT(place)(p, in, z);
    MG_VARIANT(run)(p, z, 0u);
    MG_VARIANT(energies)(p, out);
}

#undef MG_ENERGY
