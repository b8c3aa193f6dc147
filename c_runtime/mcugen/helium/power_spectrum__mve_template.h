/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: the energies of real numbers, with the sizes in mve_fourier_template.h.
 */
#define MG_SHIFTED_LEFT 0
#include "mcugen/mve_fourier_template.h"

MG_DECLARE_power_spectrum__mve(MG_KERNEL);

MG_LINKAGE void MG_KERNEL(const mg_mve_fourier_params *p, const mg_s16 *in, mg_u32 *out)
{
    (void)MG_VARIANT(place)(p, in, out);
    MG_VARIANT(run)(p, out, 0u);
    MG_VARIANT(energies)(p, out);
}

#undef MG_SHIFTED_LEFT
