/* SPDX-License-Identifier: Apache-2.0
 *
 * Parametric ReLU of float tensors.
 *
 *   y = a >= 0 ? a : a * b
 *
 * constant  operand of __constant: one value (layout.constant_step 0) or layout.run values (1)
 * Equals Prelu.reference.
 */
#ifndef MCUGEN_PRELU_F32_H
#define MCUGEN_PRELU_F32_H

#include "mcugen/elementwise.h"

typedef struct {
    const float *constant;
    mg_elementwise layout;
} mg_prelu_f32_params;

/* n elements of two tensors of one shape; out may be a or b. */
void mg_prelu_f32(const mg_prelu_f32_params *p, const mg_f32 *a, const mg_f32 *b, mg_f32 *out, uint32_t n);

/* n runs of layout.run elements, each with the constant; out may be in. */
void mg_prelu_f32__constant(const mg_prelu_f32_params *p, const mg_f32 *in, mg_f32 *out, uint32_t n);

/* Whole tensors, broadcasting as layout.walk says. */
void mg_prelu_f32__broadcast(const mg_prelu_f32_params *p, const mg_f32 *a, const mg_f32 *b, mg_f32 *out);

#endif /* MCUGEN_PRELU_F32_H */
