/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of float vectors with a matrix on x86-64: pixels of a 1x1 convolution, or a fully connected layer.
 *
 *   y[o] = clamp(bias[o] + sum over k of w[o][k] * x[k])
 *
 * in     float [n][dense.step]
 * dense  the matrix, see simd_floats.h
 * Follows Conv2D.reference and FullyConnected.reference within rounding.
 */
#ifndef MCUGEN_SIMD_VECTORS_F32_H
#define MCUGEN_SIMD_VECTORS_F32_H

#include "mcugen/simd_floats.h"

typedef struct {
    mg_simd_floats dense;
} mg_simd_vectors_f32_params;

void mg_fully_connected_f32__fma(const mg_simd_vectors_f32_params *p, const mg_f32 *in, mg_f32 *out, uint32_t n);

#endif /* MCUGEN_SIMD_VECTORS_F32_H */
