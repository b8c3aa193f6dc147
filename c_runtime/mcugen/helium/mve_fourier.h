/* SPDX-License-Identifier: Apache-2.0
 *
 * The energies of the Fourier transform of real numbers of s16 on cores with Helium.
 *
 * place   [points] index at which each pair of samples is stored, as a complex number, before the first stage
 * window  [samples] window values with 15 fractional bits, 0 in place of 1; unused without a window
 * ones    [MG_ONES] indices of the samples whose window value is 1
 * turns   twiddle factors of every stage but the first. For four neighbouring butterflies k: three vectors of four
 *         complex numbers, for k, 2 k and 3 k. If a stage has only two butterflies in a group, they are repeated
 * halves  twiddle factors that turn the spectrum of complex numbers into that of real ones: for eight bins at a time,
 *         from bin MG_FIRST on, cosines, then sines
 * Equals kissfft bit by bit.
 */
#ifndef MCUGEN_MVE_FOURIER_H
#define MCUGEN_MVE_FOURIER_H

#include "mcugen/little_endian.h"
#include "mcugen/variant.h"

typedef struct {
    const uint16_t *place;
    const int16_t *window;
    const uint16_t *ones;
    const int16_t *turns;
    const int16_t *halves;
} mg_mve_fourier_params;

/* in: [samples]; out: [points + 1]: energies of the bins in [MG_START, MG_END), 0 for other bins. */
#define MG_DECLARE_power_spectrum__mve(f) \
    MG_LINKAGE void f(const mg_mve_fourier_params *p, const mg_s16 *in, mg_u32 *out)

/* Shifts the samples left as far as the largest one allows, then computes the energies. *bits: receives the shift. */
#define MG_DECLARE_power_spectrum__mve_scaled(f) \
    MG_LINKAGE void f(const mg_mve_fourier_params *p, const mg_s16 *in, mg_u32 *out, mg_s32 *bits)

#endif /* MCUGEN_MVE_FOURIER_H */
