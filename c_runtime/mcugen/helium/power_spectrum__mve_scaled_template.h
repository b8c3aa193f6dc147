/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: the energies of real numbers that are scaled first, with the sizes in mve_fourier_template.h.
 */
#define MG_SHIFTED_LEFT 1
#include "mcugen/mve_fourier_template.h"

MG_DECLARE_power_spectrum__mve_scaled(MG_KERNEL);

MG_LINKAGE void MG_KERNEL(const mg_mve_fourier_params *p, const mg_s16 *in, mg_u32 *out, mg_s32 *bits)
{
    int32_t most = MG_VARIANT(place)(p, in, out);
#ifdef MG_LEAST
    most = mg_but_least(most, (mg_s16 *)out, 2u * MG_POINTS);
#endif
    const uint32_t shift = mg_headroom(most);
    *bits = (int32_t)shift;
    MG_VARIANT(run)(p, out, shift);
    MG_VARIANT(energies)(p, out);
}

#undef MG_SHIFTED_LEFT
