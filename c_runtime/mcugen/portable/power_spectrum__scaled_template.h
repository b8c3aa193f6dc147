/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: the energies of real numbers that are scaled first, with the sizes in fourier_stages_template.h.
 */
#define MG_ENERGY 1
#include "mcugen/fourier_stages_template.h"

MG_DECLARE_power_spectrum__scaled(MG_KERNEL);

MG_LINKAGE void MG_KERNEL(const mg_fourier_stages_params *p, const mg_s16 *in, mg_u32 *out, mg_s32 *bits)
{
    mg_s16 *z = (mg_s16 *)out;
    int32_t most = MG_VARIANT(place)(p, in, z);
#ifdef MG_LEAST
    most = mg_but_least(most, z, 2u * MG_POINTS);
#endif
    const uint32_t shift = mg_headroom(most);
    *bits = (int32_t)shift;
    MG_VARIANT(run)(p, z, shift);
    MG_VARIANT(energies)(p, out);
}

#undef MG_ENERGY
