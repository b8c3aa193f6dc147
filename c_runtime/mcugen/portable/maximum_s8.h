/* SPDX-License-Identifier: Apache-2.0
 *
 * Larger of two int8 tensors of one scale.
 *
 *   y = max(a, b)
 *
 * constant  operand of __constant: one value (layout.constant_step 0) or layout.run values (1)
 * Equals the reference runtime's Maximum.
 */
#ifndef MCUGEN_MAXIMUM_S8_H
#define MCUGEN_MAXIMUM_S8_H

#include "mcugen/elementwise.h"

typedef struct {
    const int8_t *constant;
    mg_elementwise layout;
} mg_maximum_s8_params;

/* n elements of two tensors of one shape; out may be a or b. */
void mg_maximum_s8(const mg_maximum_s8_params *p, const int8_t *a, const int8_t *b, int8_t *out, uint32_t n);

/* n runs of layout.run elements, each with the constant; out may be in. */
void mg_maximum_s8__constant(const mg_maximum_s8_params *p, const int8_t *in, int8_t *out, uint32_t n);

/* Whole tensors, broadcasting as layout.walk says. */
void mg_maximum_s8__broadcast(const mg_maximum_s8_params *p, const int8_t *a, const int8_t *b, int8_t *out);

#endif /* MCUGEN_MAXIMUM_S8_H */
