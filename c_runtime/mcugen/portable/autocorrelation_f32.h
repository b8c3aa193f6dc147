/* SPDX-License-Identifier: Apache-2.0
 *
 * Autocorrelation of each channel of a window. For each lag: the sum of x[i] * x[i + lag], divided by the sum of
 * x[i]^2; 0 if the latter is 0. Blocks of 64 products are summed, then the blocks. Each operation rounds.
 */
#ifndef MCUGEN_AUTOCORRELATION_F32_H
#define MCUGEN_AUTOCORRELATION_F32_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t length, channels, outer; /* numbers of samples of a window, of channels, of windows */
    uint32_t count;                   /* number of lags */
    const uint32_t *lags;             /* [count], each below length */
} mg_autocorrelation_f32_params;

/* in [outer][length][channels]; out [outer][channels][count]. */
void mg_autocorrelation_f32(const mg_autocorrelation_f32_params *p, const mg_f32 *in, mg_f32 *out);

#endif /* MCUGEN_AUTOCORRELATION_F32_H */
