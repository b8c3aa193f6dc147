/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of weights with float data: a window that slides over rows, pixels of a 1x1 convolution, or vectors of a
 * fully connected layer.
 *
 *   y[o] = clamp(start[o] + sum over k of w[o][k] * x[k])
 *
 * weights  [tiles][kernel_h][segments][taps][16]: 16 output channels at a time, filled up with zeros
 * bias     [tiles][16]
 * x        [kernel_h] rows: segment j of pixel i begins at i * step + j * gap and has `taps` elements
 * tiles    blocks of 16 output channels, out_c channels in all
 * block    pixels that are computed with all weights before the next ones, so that they stay in a near cache
 *
 * The sum of a channel runs over its taps in their order, whatever is computed beside it. With the sets fma, fma512 and
 * fmla each product is added without being rounded; so their last bits are not those of plain C.
 */
#ifndef MCUGEN_SIMD_FLOATS_H
#define MCUGEN_SIMD_FLOATS_H

#include "mcugen/variant.h"
#include "mcugen/simd.h"

typedef struct {
    const float *weights, *bias;
    float out_min, out_max;
    uint32_t kernel_h, segments, gap, taps, step;
    uint32_t tiles, out_c, block;
} mg_simd_floats;

#if MG_HAS_X86
/* The sets for floats, in the order of their speed: simd_fma.h and simd_fma512.h. */
#define MG_SIMD_FMA 1u
#define MG_SIMD_FMA512 2u

/* The best set for floats that the processor has. */
static inline uint32_t mg_simd_float_set(void)
{
    if (MCUGEN_SIMD_MOST >= MG_SIMD_VNNI512 && __builtin_cpu_supports("avx512f")) {
        return MG_SIMD_FMA512;
    }
    return MCUGEN_SIMD_MOST >= MG_SIMD_AVX2 && __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")
               ? MG_SIMD_FMA
               : MG_SIMD_PLAIN;
}
#endif

/* Computes `pixels` pixels. start: the first addends, [pixels] of them, each `apart` elements after the one before, or
 * the bias; it may be `out`. Whole blocks of 16 are read. out: pixels * out_c. */
MG_LINKAGE void mg_simd_dense_f32(const mg_simd_floats *p, const mg_f32 *const *rows, uint32_t pixels,
                                 const mg_f32 *start, uint32_t apart, mg_f32 *out);

#endif /* MCUGEN_SIMD_FLOATS_H */
