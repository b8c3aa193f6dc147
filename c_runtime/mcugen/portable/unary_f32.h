/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of float data, element by element: n elements; out may be in.
 * Equal the operators of the same names within rounding.
 */
#ifndef MCUGEN_UNARY_F32_H
#define MCUGEN_UNARY_F32_H

#include "mcugen/runtime.h"

/* x * min(max(x + 3, 0), 6) / 6 */
void mg_unary_f32__hard_swish(const mg_f32 *in, mg_f32 *out, uint32_t n);
/* 1 / (1 + exp(-x)) */
void mg_unary_f32__logistic(const mg_f32 *in, mg_f32 *out, uint32_t n);
/* tanh(x) */
void mg_unary_f32__tanh(const mg_f32 *in, mg_f32 *out, uint32_t n);
/* exp(x) */
void mg_unary_f32__exp(const mg_f32 *in, mg_f32 *out, uint32_t n);
/* log(x) */
void mg_unary_f32__log(const mg_f32 *in, mg_f32 *out, uint32_t n);
/* sqrt(x) */
void mg_unary_f32__sqrt(const mg_f32 *in, mg_f32 *out, uint32_t n);
/* 1 / sqrt(x) */
void mg_unary_f32__rsqrt(const mg_f32 *in, mg_f32 *out, uint32_t n);
/* sin(x) */
void mg_unary_f32__sin(const mg_f32 *in, mg_f32 *out, uint32_t n);
/* cos(x) */
void mg_unary_f32__cos(const mg_f32 *in, mg_f32 *out, uint32_t n);
/* x * x */
void mg_unary_f32__square(const mg_f32 *in, mg_f32 *out, uint32_t n);
/* |x| */
void mg_unary_f32__abs(const mg_f32 *in, mg_f32 *out, uint32_t n);
/* -x */
void mg_unary_f32__neg(const mg_f32 *in, mg_f32 *out, uint32_t n);
/* x rounded down */
void mg_unary_f32__floor(const mg_f32 *in, mg_f32 *out, uint32_t n);
/* x rounded up */
void mg_unary_f32__ceil(const mg_f32 *in, mg_f32 *out, uint32_t n);
/* x to nearest, halves to even */
void mg_unary_f32__round(const mg_f32 *in, mg_f32 *out, uint32_t n);
/* x < 0 ? exp(x) - 1 : x */
void mg_unary_f32__elu(const mg_f32 *in, mg_f32 *out, uint32_t n);

#endif /* MCUGEN_UNARY_F32_H */
