/* SPDX-License-Identifier: Apache-2.0
 *
 * The Fourier transform of real numbers of s32, and back.
 *
 * length    half of the numbers of a transform;   given: numbers of each input;   count: transforms
 * radix     [stages] of each stage, the first one to run last;   place: where each complex number stands before them
 * twiddles  cosine and sine of k / length turns, k < length;   halves: those that put the two halves together
 * Equals RealFourier.reference_q, which is kissfft's way.
 */
#ifndef MCUGEN_REAL_FOURIER_S32_H
#define MCUGEN_REAL_FOURIER_S32_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t length, given, count, stages;
    uint32_t inverse;
    const uint8_t *radix;
    const uint16_t *place;
    const int32_t *twiddles;
    const int32_t *halves;
} mg_real_fourier_s32_params;

void mg_real_fourier_s32(const mg_real_fourier_s32_params *p, const mg_s32 *in, mg_s32 *out);

#endif /* MCUGEN_REAL_FOURIER_S32_H */
