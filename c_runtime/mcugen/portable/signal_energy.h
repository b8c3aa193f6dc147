/* SPDX-License-Identifier: Apache-2.0
 *
 * The squared magnitudes of the complex numbers in [start, end) of a spectrum of `size` numbers; 0 for the rest.
 * Equals SignalEnergy.reference_q.
 */
#ifndef MCUGEN_SIGNAL_ENERGY_H
#define MCUGEN_SIGNAL_ENERGY_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t size, start, end;
} mg_signal_energy_params;

void mg_signal_energy(const mg_signal_energy_params *p, const mg_s16 *x, mg_u32 *y);

#endif /* MCUGEN_SIGNAL_ENERGY_H */
