/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums to stored integers on cores with SMMLAR, in three or four instructions, with the bits of mg_requantize.
 *
 * Let x be a sum, |x| < 2^30, held doubled; n >= 1 the shift to the right; addend = 2^(n - 1) + (zero_point << n). Where
 * the clamp begins at the zero point or above, n may be 0, with the zero point for an addend.
 *
 *   round(x * mult / 2^31)               is one SMMLAR of 2x and mult, for both signs; its addend is free
 *   x / 2^n, halves away from zero       is (x - (x < 0) + 2^(n - 1)) >> n, and the sign may be that of the sum
 *
 * Where the clamp begins at the zero point or above, a negative sum clamps anyway and its sign does not matter:
 * the _clamped forms. There a sum that is held 256-fold needs no SMMLAR, since both roundings amount to rounding down:
 * with addend_wide = 128 addend + 64, (floor(256x * mult / 2^32) + addend_wide) >> (n + 7) has the same bits.
 * Results that are rounded once take the high word without its rounding: the _once forms, for both signs; 256-fold
 * sums with addend_wide = 128 addend. The build has proved that nothing leaves 32 bits.
 *
 * Sums that are held 2^d-fold, d >= 1, by their weights and biases, are rounded down with 2^d addend + 2^(d - 1), as above,
 * and shifted by n + d; those that are rounded once with 2^d addend. Where d is such that n + d is the same for all channels
 * of a layer, SSAT can shift: the _alike forms.
 *
 * Where no such numbers have the bits of the operator's own float arithmetic, cores with an FPU compute that: the _float
 * forms, whose mult is half the factor, as float32, and addend the zero point; n is not read. Doubling changes no bits.
 */
#ifndef MCUGEN_DSP_REQUANTIZE_H
#define MCUGEN_DSP_REQUANTIZE_H

#include "mcugen/runtime.h"
#include "mcugen/scale_float.h"

/* Assembly: x (a register) becomes the output before the clamp to a type; t is clobbered. */
#define MG_DSP_SCALE_CLAMPED(x, mult, addend, n)   \
    "smmlar " x ", " x ", " mult ", " addend "\n"  \
    "asr " x ", " x ", " n "\n"

#define MG_DSP_SCALE_WIDE(x, mult, addend, n)      \
    "smmla " x ", " x ", " mult ", " addend "\n"   \
    "asr " x ", " x ", " n "\n"

/* One rounding: the high word is rounded down, and the addend rounds. */
#define MG_DSP_SCALE_ONCE(x, mult, addend, n) MG_DSP_SCALE_WIDE(x, mult, addend, n)

/* The same, clamped to int8; n is the text of a number. */
#define MG_DSP_SCALE_ALIKE(x, mult, addend, n)      \
    "smmla " x ", " x ", " mult ", " addend "\n"    \
    "ssat " x ", #8, " x ", asr #" n "\n"

/* VCVTR rounds halves to even, the mode of the FPU that all C code expects. */
#define MG_DSP_SCALE_FLOAT(x, mult, addend)     \
    "vmov s0, s1, " x ", " mult "\n"            \
    "vcvt.f32.s32 s0, s0\n"                     \
    "vmul.f32 s0, s0, s1\n"                     \
    "vcvtr.s32.f32 s0, s0\n"                    \
    "vmov " x ", s0\n"                          \
    "add " x ", " x ", " addend "\n"

#define MG_DSP_SCALE(x, mult, addend, n, t)   \
    "sub " t ", " addend ", " x ", lsr #31\n" \
    "smmlar " x ", " x ", " mult ", " t "\n"  \
    "asr " x ", " x ", " n "\n"

/* C versions of the assembly above. */
static inline int32_t mg_dsp_scale_clamped(int32_t doubled, int32_t mult, int32_t addend, int32_t n)
{
    const int32_t high = (int32_t)(((int64_t)doubled * mult + ((int64_t)1 << 31)) >> 32);
    return (high + addend) >> (uint32_t)n;
}

static inline int32_t mg_dsp_scale_wide(int32_t wide, int32_t mult, int32_t addend, int32_t n)
{
    return ((int32_t)(((int64_t)wide * mult) >> 32) + addend) >> (uint32_t)n;
}

static inline int32_t mg_dsp_scale_once(int32_t doubled, int32_t mult, int32_t addend, int32_t n)
{
    return mg_dsp_scale_wide(doubled, mult, addend, n);
}

static inline int32_t mg_dsp_scale_float(int32_t doubled, int32_t mult, int32_t addend)
{
    return mg_scale_float(doubled, mult) + addend;
}

static inline int32_t mg_dsp_scale(int32_t doubled, int32_t mult, int32_t addend, int32_t n)
{
    return mg_dsp_scale_clamped(doubled, mult, addend - (int32_t)(doubled < 0), n);
}

#endif /* MCUGEN_DSP_REQUANTIZE_H */
