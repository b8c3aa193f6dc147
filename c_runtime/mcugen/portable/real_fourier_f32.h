/* SPDX-License-Identifier: Apache-2.0
 *
 * The Fourier transform of real numbers of f32, and back.
 *
 * length    half of the numbers of a transform;   given: numbers of each input;   count: transforms
 * radix     [stages] of each stage, the first one to run last;   place: where each complex number stands before them
 * twiddles  cosine and sine of k / length turns, k < length;   halves: those that put the two halves together
 * Equals RealFourier.reference within rounding.
 */
#ifndef MCUGEN_REAL_FOURIER_F32_H
#define MCUGEN_REAL_FOURIER_F32_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t length, given, count, stages;
    uint32_t inverse;
    const uint8_t *radix;
    const uint16_t *place;
    const float *twiddles;
    const float *halves;
} mg_real_fourier_f32_params;

void mg_real_fourier_f32(const mg_real_fourier_f32_params *p, const mg_f32 *in, mg_f32 *out);

#endif /* MCUGEN_REAL_FOURIER_F32_H */
