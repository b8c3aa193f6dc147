/* SPDX-License-Identifier: Apache-2.0
 *
 * The Fourier transform of real numbers of s16 with the stages of one model's sizes, and the energies of its bins.
 *
 * radix   [stages] radix of each stage, in the order in which they run
 * place   [points] index at which each pair of samples is stored, as a complex number, before the first stage
 * window  [samples] window values, with MG_SHIFT fractional bits; unused without a window
 * turns   twiddle factors (cosine, sine) of every stage but the first: for each k from 1 on, the factors of k, 2 k, ...
 *         (radix - 1) k
 * halves  twiddle factors that turn the spectrum of complex numbers into that of real ones, from bin MG_FIRST on
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

/* in: [samples]; out: [points + 1]: energies of the bins in [MG_START, MG_END), 0 for other bins. */
#define MG_DECLARE_power_spectrum(f) \
    MG_LINKAGE void f(const mg_fourier_stages_params *p, const mg_s16 *in, mg_u32 *out)

/* Shifts the samples left as far as the largest one allows, then computes the energies. *bits: receives the shift. */
#define MG_DECLARE_power_spectrum__scaled(f) \
    MG_LINKAGE void f(const mg_fourier_stages_params *p, const mg_s16 *in, mg_u32 *out, mg_s32 *bits)

#endif /* MCUGEN_FOURIER_STAGES_H */
