/* SPDX-License-Identifier: Apache-2.0
 *
 * Sum and difference of int16 tensors.
 *
 *   y = clamp((a +- b) / out_scale + out_zero_point), rounded as mcugen/sum.h says
 *
 * constant  operand of __constant: one value (layout.constant_step 0) or layout.run values (1)
 * Equals the reference runtime's Add and Sub for int16.
 */
#ifndef MCUGEN_ADD_S16_H
#define MCUGEN_ADD_S16_H

#include "mcugen/elementwise.h"
#include "mcugen/sum.h"

typedef struct {
    const int16_t *constant;
    mg_elementwise layout;
    mg_sum sum;
} mg_add_s16_params;

/* n elements of two tensors of one shape; out may be a or b. */
void mg_add_s16(const mg_add_s16_params *p, const mg_s16 *a, const mg_s16 *b, mg_s16 *out, uint32_t n);

/* n runs of layout.run elements, each with the constant; out may be in. */
void mg_add_s16__constant(const mg_add_s16_params *p, const mg_s16 *in, mg_s16 *out, uint32_t n);

/* Whole tensors, broadcasting as layout.walk says. */
void mg_add_s16__broadcast(const mg_add_s16_params *p, const mg_s16 *a, const mg_s16 *b, mg_s16 *out);

#endif /* MCUGEN_ADD_S16_H */
