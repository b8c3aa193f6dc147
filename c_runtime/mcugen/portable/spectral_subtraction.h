/* SPDX-License-Identifier: Apache-2.0
 *
 * Subtracts from each channel an estimate of its noise: a moving average of the channel.
 *
 * smoothing, rest  weights of the new value and of the estimate so far; [0]: even channels, [1]: odd channels
 * Equals SpectralSubtraction.reference_q.
 */
#ifndef MCUGEN_SPECTRAL_SUBTRACTION_H
#define MCUGEN_SPECTRAL_SUBTRACTION_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t size;
    uint32_t smoothing[2];
    uint32_t rest[2];
    uint32_t up, bits, remaining, clamps;
} mg_spectral_subtraction_params;

void mg_spectral_subtraction(const mg_spectral_subtraction_params *p, const mg_u32 *x, const mg_u32 *noise, mg_u32 *y,
                             mg_u32 *new_noise);

#endif /* MCUGEN_SPECTRAL_SUBTRACTION_H */
