/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/signal_energy.h"

void mg_signal_energy(const mg_signal_energy_params *p, const mg_s16 *x, mg_u32 *y)
{
    for (uint32_t k = 0u; k < p->size; k += 1u) {
        const int32_t re = x[2u * k], im = x[2u * k + 1u];
        y[k] = k >= p->start && k < p->end ? (uint32_t)(re * re) + (uint32_t)(im * im) : 0u;
    }
}
