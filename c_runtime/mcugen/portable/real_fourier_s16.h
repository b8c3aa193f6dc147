/* SPDX-License-Identifier: Apache-2.0
 *
 * The Fourier transform of real numbers of s16, and back.
 *
 * length    half of the numbers of a transform;   given: numbers of each input;   count: transforms
 * radix     [stages] of each stage, the first one to run last;   place: where each complex number stands before them
 * twiddles  cosine and sine of k / length turns, k < length;   halves: those that put the two halves together
 * Equals kissfft bit by bit.
 */
/* Copies:
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
