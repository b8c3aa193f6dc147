/* SPDX-License-Identifier: Apache-2.0
 *
 * The Fourier transform of real numbers of s16, and back.
 *
 * length    number of complex numbers, half of the real numbers of a transform
 * given     elements of each input;   count: number of transforms
 * radix     [stages] radix of each stage, the last one to run first
 * place     [length] index at which each complex number is stored before the stages
 * twiddles  twiddle factors: cosine and sine of k / length turns, k < length
 * halves    twiddle factors that turn the spectrum of complex numbers into that of real ones
 * Equals kissfft bit by bit.
 */
/* Copies of this file, one a line, with these words replaced:
 * s16 -> s32, int16 -> int32
 * s16 -> f32, int16_t -> float, bit by bit -> within rounding
 */
#ifndef MCUGEN_REAL_FOURIER_S16_H
#define MCUGEN_REAL_FOURIER_S16_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t length, given, count, stages;
    uint32_t inverse;
    const uint8_t *radix;
    const uint16_t *place;
    const int16_t *twiddles;
    const int16_t *halves;
} mg_real_fourier_s16_params;

void mg_real_fourier_s16(const mg_real_fourier_s16_params *p, const mg_s16 *in, mg_s16 *out);

#endif /* MCUGEN_REAL_FOURIER_S16_H */
