/* SPDX-License-Identifier: Apache-2.0
 *
 * Squared difference of float tensors.
 *
 *   y = (a - b)^2
 *
 * constant  operand of __constant: one value (layout.constant_step 0) or layout.run values (1)
 * Equals SquaredDifference.reference.
 */
#ifndef MCUGEN_SQUARED_DIFFERENCE_F32_H
#define MCUGEN_SQUARED_DIFFERENCE_F32_H

#include "mcugen/elementwise.h"

typedef struct {
    const float *constant;
    mg_elementwise layout;
} mg_squared_difference_f32_params;

/* n elements of two tensors of one shape; out may be a or b. */
void mg_squared_difference_f32(const mg_squared_difference_f32_params *p, const mg_f32 *a, const mg_f32 *b, mg_f32 *out, uint32_t n);

/* n runs of layout.run elements, each with the constant; out may be in. */
void mg_squared_difference_f32__constant(const mg_squared_difference_f32_params *p, const mg_f32 *in, mg_f32 *out, uint32_t n);

/* Whole tensors, broadcasting as layout.walk says. */
void mg_squared_difference_f32__broadcast(const mg_squared_difference_f32_params *p, const mg_f32 *a, const mg_f32 *b, mg_f32 *out);

#endif /* MCUGEN_SQUARED_DIFFERENCE_F32_H */
