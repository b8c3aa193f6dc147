/* SPDX-License-Identifier: Apache-2.0
 *
 * Parametric ReLU of int8 tensors.
 *
 *   y = clamp(out_zero_point + (x >= 0 ? requantize(x, mult, shift)
 *                                      : requantize(x * alpha, alpha_mult, alpha_shift)))
 *
 * with x = a - a_zero_point and alpha = b - b_zero_point
 * constant  operand of __constant: one value (layout.constant_step 0) or layout.run values (1)
 * Equals the reference runtime's Prelu for int8.
 */
#ifndef MCUGEN_PRELU_S8_H
#define MCUGEN_PRELU_S8_H

#include "mcugen/elementwise.h"

typedef struct {
    const int8_t *constant;
    mg_elementwise layout;
    int32_t mult, alpha_mult;
    int16_t a_zero_point, b_zero_point, out_zero_point;
    int8_t shift, alpha_shift;
} mg_prelu_s8_params;

/* n elements of two tensors of one shape; out may be a or b. */
void mg_prelu_s8(const mg_prelu_s8_params *p, const int8_t *a, const int8_t *b, int8_t *out, uint32_t n);

/* n runs of layout.run elements, each with the constant; out may be in. */
void mg_prelu_s8__constant(const mg_prelu_s8_params *p, const int8_t *in, int8_t *out, uint32_t n);

/* Whole tensors, broadcasting as layout.walk says. */
void mg_prelu_s8__broadcast(const mg_prelu_s8_params *p, const int8_t *a, const int8_t *b, int8_t *out);

#endif /* MCUGEN_PRELU_S8_H */
