/* SPDX-License-Identifier: Apache-2.0
 *
 * Larger of two int32 tensors of one scale.
 *
 *   y = max(a, b)
 *
 * constant  operand of __constant: one value (layout.constant_step 0) or layout.run values (1)
 * Equals the reference runtime's Maximum.
 */
#ifndef MCUGEN_MAXIMUM_S32_H
#define MCUGEN_MAXIMUM_S32_H

#include "mcugen/elementwise.h"

typedef struct {
    const int32_t *constant;
    mg_elementwise layout;
} mg_maximum_s32_params;

/* n elements of two tensors of one shape; out may be a or b. */
void mg_maximum_s32(const mg_maximum_s32_params *p, const mg_s32 *a, const mg_s32 *b, mg_s32 *out, uint32_t n);

/* n runs of layout.run elements, each with the constant; out may be in. */
void mg_maximum_s32__constant(const mg_maximum_s32_params *p, const mg_s32 *in, mg_s32 *out, uint32_t n);

/* Whole tensors, broadcasting as layout.walk says. */
void mg_maximum_s32__broadcast(const mg_maximum_s32_params *p, const mg_s32 *a, const mg_s32 *b, mg_s32 *out);

#endif /* MCUGEN_MAXIMUM_S32_H */
