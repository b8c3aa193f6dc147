/* SPDX-License-Identifier: Apache-2.0
 *
 * The Fourier transform of real numbers of s16 on cores with DSP instructions, and the energies of its bins.
 *
 * A complex number is a word with the real part in the low half, a pair of samples or of window values a word with the
 * earlier one in the low half. Before the first stage, pairs of samples are stored in bit-reversed order (for mixed
 * radices) as complex numbers, in blocks of MG_RADIX0 * MG_RADIX1.
 *
 * starts  index of the pair of samples that begins each block
 * window  [points] pairs of window values in the same order as the samples; unused without a window
 * turns   twiddle factors of every stage but the first: for each k from 1 on (in the last stage from 0 on), the factors
 *         of k, 2 k, ... (radix - 1) k
 * halves  twiddle factors that turn the spectrum of complex numbers into that of real ones, from bin MG_FIRST on
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

/* in: [samples]; out: [points + 1]: energies of the bins in [MG_START, MG_END), 0 for other bins. */
#define MG_DECLARE_power_spectrum__dsp(f) \
    MG_LINKAGE void f(const mg_dsp_fourier_params *p, const mg_s16 *in, mg_u32 *out)

/* Shifts the samples left as far as the largest one allows, then computes the energies. *bits: receives the shift. */
#define MG_DECLARE_power_spectrum__dsp_scaled(f) \
    MG_LINKAGE void f(const mg_dsp_fourier_params *p, const mg_s16 *in, mg_u32 *out, mg_s32 *bits)

#endif /* MCUGEN_DSP_FOURIER_H */
