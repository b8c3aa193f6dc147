/* SPDX-License-Identifier: Apache-2.0
 *
 * Sum and difference of int8 tensors where one linear form has the bits of all their roundings.
 *
 *   y = clamp((form.a * a + form.b * b + form.addend) / 2^21), rounded down
 *
 * constant  operand of __constant: one value (layout.constant_step 0) or layout.run values (1)
 * Equals mg_add_s8 for every pair of values: all were compared when the code was generated. Nothing leaves 32 bits.
 */
#ifndef MCUGEN_LINEAR_SUM_S8_H
#define MCUGEN_LINEAR_SUM_S8_H

#include "mcugen/elementwise.h"

typedef struct {
    int32_t a, b, addend;
    int16_t out_min, out_max;
} mg_linear_form;

typedef struct {
    const int8_t *constant;
    mg_elementwise layout;
    mg_linear_form form;
} mg_linear_sum_s8_params;

/* n elements of two tensors of one shape; out may be a or b. */
void mg_linear_sum_s8(const mg_linear_sum_s8_params *p, const int8_t *a, const int8_t *b, int8_t *out, uint32_t n);

/* n runs of layout.run elements, each with the constant; out may be in. */
void mg_linear_sum_s8__constant(const mg_linear_sum_s8_params *p, const int8_t *in, int8_t *out, uint32_t n);

/* Whole tensors, broadcasting as layout.walk says. */
void mg_linear_sum_s8__broadcast(const mg_linear_sum_s8_params *p, const int8_t *a, const int8_t *b, int8_t *out);

#endif /* MCUGEN_LINEAR_SUM_S8_H */
