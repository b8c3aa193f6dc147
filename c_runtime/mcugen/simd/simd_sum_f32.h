/* SPDX-License-Identifier: Apache-2.0
 *
 * Sum of two float tensors of one shape on application cores.
 *
 *   y = clamp(a + b)
 *
 * Equals Add.reference in float32, bit for bit.
 */
#ifndef MCUGEN_SIMD_SUM_F32_H
#define MCUGEN_SIMD_SUM_F32_H

#include "mcugen/simd_floats.h"

typedef struct {
    float out_min, out_max;
} mg_simd_sum_f32_params;

/* Computes n elements; `out` may be equal to `a` or `b`. */
void mg_add_f32__fma(const mg_simd_sum_f32_params *p, const mg_f32 *a, const mg_f32 *b, mg_f32 *out, uint32_t n);

#endif /* MCUGEN_SIMD_SUM_F32_H */
