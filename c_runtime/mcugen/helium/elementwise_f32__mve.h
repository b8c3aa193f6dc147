/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums, differences, products and clamps of float tensors for cores with Helium.
 *
 *   y = clamp(a + b), clamp(a - b), clamp(a * b), clamp(a)
 *
 * low, high  bounds of y, as the bits of floats, which compare like integers from 0 on. low: 0, or INT32_MIN if there
 *            is none; high: INT32_MAX if there is none
 * The kernels equal Add.reference, Sub.reference, Mul.reference and Relu.reference, but numbers below 2^-126 count as 0
 * in sums, differences and products.
 */
#ifndef MCUGEN_ELEMENTWISE_F32__MVE_H
#define MCUGEN_ELEMENTWISE_F32__MVE_H

#include "mcugen/little_endian.h"
#include "mcugen/runtime.h"

typedef struct {
    int32_t low, high;
} mg_elementwise_f32__mve_params;

/* Computes n elements of two tensors of the same shape; `out` may be equal to `a` or `b`. */
void mg_add_f32__mve(const mg_elementwise_f32__mve_params *p, const mg_f32 *a, const mg_f32 *b, mg_f32 *out, uint32_t n);
void mg_sub_f32__mve(const mg_elementwise_f32__mve_params *p, const mg_f32 *a, const mg_f32 *b, mg_f32 *out, uint32_t n);
void mg_mul_f32__mve(const mg_elementwise_f32__mve_params *p, const mg_f32 *a, const mg_f32 *b, mg_f32 *out, uint32_t n);

/* Computes n elements; `out` may be equal to `in`. */
void mg_clamp_f32__mve(const mg_elementwise_f32__mve_params *p, const mg_f32 *in, mg_f32 *out, uint32_t n);

#endif /* MCUGEN_ELEMENTWISE_F32__MVE_H */
