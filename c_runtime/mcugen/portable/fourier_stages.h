/* SPDX-License-Identifier: Apache-2.0
 *
 * The Fourier transform of real numbers of s16 with the stages of one model's sizes, and the energies of its bins.
 *
 * radix   [stages] of each stage, the first one to run first
 * place   [points] where each complex number, a pair of samples, stands before the first stage
 * window  [samples] the factors of the samples, in fixed point with MG_SHIFT fractional bits; unused without a window
 * turns   cosine and sine of the turns of each stage but the first, in the order in which they are used: for each
 *         k from 1 on, those of k, 2 k, ... (radix - 1) k
 * halves  cosine and sine of the turns of the bins from MG_FIRST on, when the transform of complex numbers is split
 * Equals kissfft bit by bit.
 */
#ifndef MCUGEN_FOURIER_STAGES_H
#define MCUGEN_FOURIER_STAGES_H

#include "mcugen/variant.h"

typedef struct {
    const uint8_t *radix;
    const uint16_t *place;
    const int16_t *window;
    const int16_t *turns;
    const int16_t *halves;
} mg_fourier_stages_params;

/* in: [count][samples]; out: [count][2 * points + 2], real and imaginary parts alternating. */
#define MG_DECLARE_real_fourier_s16__stages(f) \
    MG_LINKAGE void f(const mg_fourier_stages_params *p, const mg_s16 *in, mg_s16 *out)

/* in: [samples]; out: [points + 1], the energies of the bins from MG_START to MG_END, else 0. */
#define MG_DECLARE_power_spectrum(f) \
    MG_LINKAGE void f(const mg_fourier_stages_params *p, const mg_s16 *in, mg_u32 *out)

/* Energies of samples that are first shifted left by *bits, as far as the greatest one allows. */
#define MG_DECLARE_power_spectrum__scaled(f) \
    MG_LINKAGE void f(const mg_fourier_stages_params *p, const mg_s16 *in, mg_u32 *out, mg_s32 *bits)

#endif /* MCUGEN_FOURIER_STAGES_H */
