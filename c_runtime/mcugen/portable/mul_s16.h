/* SPDX-License-Identifier: Apache-2.0
 *
 * Product of int16 tensors.
 *
 *   y = clamp(a * b / out_scale + out_zero_point), rounded as mcugen/product.h says
 *
 * constant  operand of __constant: one value (layout.constant_step 0) or layout.run values (1)
 * Equals the reference runtime's Mul for int16.
 */
#ifndef MCUGEN_MUL_S16_H
#define MCUGEN_MUL_S16_H

#include "mcugen/elementwise.h"
#include "mcugen/product.h"

typedef struct {
    const int16_t *constant;
    mg_elementwise layout;
    mg_product product;
} mg_mul_s16_params;

/* n elements of two tensors of one shape; out may be a or b. */
void mg_mul_s16(const mg_mul_s16_params *p, const mg_s16 *a, const mg_s16 *b, mg_s16 *out, uint32_t n);

/* n runs of layout.run elements, each with the constant; out may be in. */
void mg_mul_s16__constant(const mg_mul_s16_params *p, const mg_s16 *in, mg_s16 *out, uint32_t n);

/* Whole tensors, broadcasting as layout.walk says. */
void mg_mul_s16__broadcast(const mg_mul_s16_params *p, const mg_s16 *a, const mg_s16 *b, mg_s16 *out);

#endif /* MCUGEN_MUL_S16_H */
