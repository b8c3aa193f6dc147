/* SPDX-License-Identifier: Apache-2.0
 *
 * The energies of the Fourier transform of real numbers of s16 on cores with Helium.
 *
 * place   [points] the place of each pair of samples before the first stage
 * window  [samples] the factors of the samples with 15 fractional bits, 0 in place of 1; unused without a window
 * ones    [MG_ONES] the samples whose factor is 1
 * turns   those of each stage but the first, for four neighbouring numbers k at a time: three vectors of four complex
 *         numbers, the turns of k, 2 k and 3 k; if a stage has only two, they are repeated
 * halves  cosines and then sines of the turns of eight bins at a time, from bin MG_FIRST on
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

/* in: [samples]; out: [points + 1], the energies of the bins from MG_START to MG_END, else 0. */
#define MG_DECLARE_power_spectrum__mve(f) \
    MG_LINKAGE void f(const mg_mve_fourier_params *p, const mg_s16 *in, mg_u32 *out)

/* Energies of samples that are first shifted left by *bits, as far as the greatest one allows. */
#define MG_DECLARE_power_spectrum__mve_scaled(f) \
    MG_LINKAGE void f(const mg_mve_fourier_params *p, const mg_s16 *in, mg_u32 *out, mg_s32 *bits)

#endif /* MCUGEN_MVE_FOURIER_H */
