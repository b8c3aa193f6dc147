/* SPDX-License-Identifier: Apache-2.0
 *
 * The Fourier transform of real numbers of s16 on cores with DSP instructions, and the energies of its bins.
 *
 * Complex numbers, and pairs of factors, are words with the real part, or the earlier factor, in the low half.
 *
 * starts  for each block of MG_RADIX0 * MG_RADIX1 places before the first stage: the pair of samples in the first one
 * window  [points] the factors of the pairs of samples in the order of these places; unused without a window
 * turns   those of each stage but the first, in the order in which they are used: for each k from 1 on, in the last
 *         stage from 0 on, those of k, 2 k, ... (radix - 1) k
 * halves  the turns of the bins from MG_FIRST on, when the transform of complex numbers is split
 * Equals kissfft bit by bit.
 */
#ifndef MCUGEN_DSP_FOURIER_H
#define MCUGEN_DSP_FOURIER_H

#include "mcugen/little_endian.h"
#include "mcugen/variant.h"

typedef struct {
    const uint16_t *starts;
    const uint32_t *window;
    const uint32_t *turns;
    const uint32_t *halves;
} mg_dsp_fourier_params;

/* in: [count][samples]; out: [count][2 * points + 2], real and imaginary parts alternating. */
#define MG_DECLARE_real_fourier_s16__dsp(f) \
    MG_LINKAGE void f(const mg_dsp_fourier_params *p, const mg_s16 *in, mg_s16 *out)

/* in: [samples]; out: [points + 1], the energies of the bins from MG_START to MG_END, else 0. */
#define MG_DECLARE_power_spectrum__dsp(f) \
    MG_LINKAGE void f(const mg_dsp_fourier_params *p, const mg_s16 *in, mg_u32 *out)

/* Energies of samples that are first shifted left by *bits, as far as the greatest one allows. */
#define MG_DECLARE_power_spectrum__dsp_scaled(f) \
    MG_LINKAGE void f(const mg_dsp_fourier_params *p, const mg_s16 *in, mg_u32 *out, mg_s32 *bits)

#endif /* MCUGEN_DSP_FOURIER_H */
