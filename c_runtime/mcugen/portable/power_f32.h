/* SPDX-License-Identifier: Apache-2.0
 *
 * The squared magnitude of complex floats. Each operation rounds.
 */
#ifndef MCUGEN_POWER_F32_H
#define MCUGEN_POWER_F32_H

#include "mcugen/runtime.h"

/* Computes n numbers. in: [n][2], real and imaginary parts; out: [n]. */
void mg_power_f32(const mg_f32 *in, mg_f32 *out, uint32_t n);

#endif /* MCUGEN_POWER_F32_H */
