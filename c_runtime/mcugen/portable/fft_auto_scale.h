/* SPDX-License-Identifier: Apache-2.0
 *
 * Block floating point: shifts all samples left so far that the largest one just fits int16. bits: receives the shift.
 * Equals FftAutoScale.reference_q.
 */
#ifndef MCUGEN_FFT_AUTO_SCALE_H
#define MCUGEN_FFT_AUTO_SCALE_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t size;
} mg_fft_auto_scale_params;

void mg_fft_auto_scale(const mg_fft_auto_scale_params *p, const mg_s16 *x, mg_s16 *y, mg_s32 *bits);
/* mg_fft_auto_scale that leaves -32768 out when it looks for the largest sample. If the samples are shifted, -32768
 * becomes 0. */
void mg_fft_auto_scale__least(const mg_fft_auto_scale_params *p, const mg_s16 *x, mg_s16 *y, mg_s32 *bits);

#endif /* MCUGEN_FFT_AUTO_SCALE_H */
