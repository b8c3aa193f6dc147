/* SPDX-License-Identifier: Apache-2.0
 *
 * Product of plain int32 tensors, wrapping.
 *
 *   y = clamp(a * b)
 *
 * constant  operand of __constant: one value (layout.constant_step 0) or layout.run values (1)
 * Equals the reference runtime's Mul for int32.
 */
#ifndef MCUGEN_MUL_S32_H
#define MCUGEN_MUL_S32_H

#include "mcugen/elementwise.h"

typedef struct {
    const int32_t *constant;
    mg_elementwise layout;
    int32_t out_min, out_max;
} mg_mul_s32_params;

/* n elements of two tensors of one shape; out may be a or b. */
void mg_mul_s32(const mg_mul_s32_params *p, const mg_s32 *a, const mg_s32 *b, mg_s32 *out, uint32_t n);

/* n runs of layout.run elements, each with the constant; out may be in. */
void mg_mul_s32__constant(const mg_mul_s32_params *p, const mg_s32 *in, mg_s32 *out, uint32_t n);

/* Whole tensors, broadcasting as layout.walk says. */
void mg_mul_s32__broadcast(const mg_mul_s32_params *p, const mg_s32 *a, const mg_s32 *b, mg_s32 *out);

#endif /* MCUGEN_MUL_S32_H */
