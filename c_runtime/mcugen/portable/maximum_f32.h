/* SPDX-License-Identifier: Apache-2.0
 *
 * Larger of two float tensors.
 *
 *   y = max(a, b)
 *
 * constant  operand of __constant: one value (layout.constant_step 0) or layout.run values (1)
 * Equals Maximum.reference.
 */
#ifndef MCUGEN_MAXIMUM_F32_H
#define MCUGEN_MAXIMUM_F32_H

#include "mcugen/elementwise.h"

typedef struct {
    const float *constant;
    mg_elementwise layout;
} mg_maximum_f32_params;

/* n elements of two tensors of one shape; out may be a or b. */
void mg_maximum_f32(const mg_maximum_f32_params *p, const mg_f32 *a, const mg_f32 *b, mg_f32 *out, uint32_t n);

/* n runs of layout.run elements, each with the constant; out may be in. */
void mg_maximum_f32__constant(const mg_maximum_f32_params *p, const mg_f32 *in, mg_f32 *out, uint32_t n);

/* Whole tensors, broadcasting as layout.walk says. */
void mg_maximum_f32__broadcast(const mg_maximum_f32_params *p, const mg_f32 *a, const mg_f32 *b, mg_f32 *out);

#endif /* MCUGEN_MAXIMUM_F32_H */
