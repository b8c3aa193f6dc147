/* SPDX-License-Identifier: Apache-2.0
 *
 * Requantization on cores with SMMLAR, in three or four instructions, with the bits of mg_requantize.
 *
 * Notation: x is a sum, |x| < 2^30, held as 2x; n >= 1 is the shift to the right; addend = 2^(n - 1) + (zero_point <<
 * n).
 *
 *   round(x * mult / 2^31)          is one SMMLAR of 2x and mult, for both signs of x; it also adds the addend
 *   x / 2^n, halves away from zero  is (x - (x < 0) + 2^(n - 1)) >> n; (x < 0) may be the sign of the sum
 *
 * Forms beside the general one:
 *   _clamped  the clamp begins at the zero point or above: a negative sum is clamped anyway, so its sign is ignored. n
 *             may be 0, with the zero point as the addend
 *   _wide     _clamped for sums held as 256x: both roundings amount to rounding down, so SMMLA serves: with addend_wide
 *             = 128 addend + 64, (floor(256x * mult / 2^32) + addend_wide) >> (n + 7) has the same bits
 *   _once     the result is rounded once, for both signs: the high word is rounded down. For 256x, addend_wide = 128
 *             addend
 *   _alike    sums held as 2^d * 2x, because weights and biases are multiplied by 2^d; n + d is the same for all
 *             channels of a layer, so that SSAT shifts and saturates. The addend is 2^d addend + 2^(d - 1), or 2^d
 *             addend if rounded once
 *   _float    no fixed-point constants give the bits of the operator's float arithmetic, so the FPU computes it: mult
 *             is half the factor, as a float32 (doubling changes no bits), addend the zero point; n is not read
 * The build has proved that nothing leaves 32 bits.
 */
#ifndef MCUGEN_DSP_REQUANTIZE_H
#define MCUGEN_DSP_REQUANTIZE_H

#include "mcugen/runtime.h"
#include "mcugen/scale_float.h"

/* Assembly: replaces x, a register with a sum, by the output before saturation; t is clobbered. */
#define MG_DSP_SCALE_CLAMPED(x, mult, addend, n)   \
    "smmlar " x ", " x ", " mult ", " addend "\n"  \
    "asr " x ", " x ", " n "\n"

#define MG_DSP_SCALE_WIDE(x, mult, addend, n)      \
    "smmla " x ", " x ", " mult ", " addend "\n"   \
    "asr " x ", " x ", " n "\n"

/* Rounds once: the high word of the product is rounded down, and the addend makes that rounding to the nearest. */
#define MG_DSP_SCALE_ONCE(x, mult, addend, n) MG_DSP_SCALE_WIDE(x, mult, addend, n)

/* MG_DSP_SCALE_ONCE, saturated to int8. n: the shift, a number as text. */
#define MG_DSP_SCALE_ALIKE(x, mult, addend, n)      \
    "smmla " x ", " x ", " mult ", " addend "\n"    \
    "ssat " x ", #8, " x ", asr #" n "\n"

/* VCVTR uses the FPU's rounding mode, which C code leaves at round to nearest, ties to even. */
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
