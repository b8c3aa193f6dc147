/* SPDX-License-Identifier: Apache-2.0
 *
 * The sum of the products of the numbers of each channel with those some samples later, divided by the sum of their
 * squares; 0 if that is 0. Sums are those of blocks of 64 numbers, then of the blocks. Each operation rounds.
 */
#ifndef MCUGEN_AUTOCORRELATION_F32_H
#define MCUGEN_AUTOCORRELATION_F32_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t length, channels, outer; /* samples of a window, channels, windows */
    uint32_t count;                   /* lags */
    const uint32_t *lags;             /* [count], each below length */
} mg_autocorrelation_f32_params;

/* in [outer][length][channels]; out [outer][channels][count]. */
void mg_autocorrelation_f32(const mg_autocorrelation_f32_params *p, const mg_f32 *in, mg_f32 *out);

#endif /* MCUGEN_AUTOCORRELATION_F32_H */
