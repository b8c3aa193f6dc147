/* SPDX-License-Identifier: Apache-2.0
 *
 * Smaller of two int16 tensors of one scale.
 *
 *   y = min(a, b)
 *
 * constant  operand of __constant: one value (layout.constant_step 0) or layout.run values (1)
 * Equals the reference runtime's Minimum.
 */
#ifndef MCUGEN_MINIMUM_S16_H
#define MCUGEN_MINIMUM_S16_H

#include "mcugen/elementwise.h"

typedef struct {
    const int16_t *constant;
    mg_elementwise layout;
} mg_minimum_s16_params;

/* n elements of two tensors of one shape; out may be a or b. */
void mg_minimum_s16(const mg_minimum_s16_params *p, const mg_s16 *a, const mg_s16 *b, mg_s16 *out, uint32_t n);

/* n runs of layout.run elements, each with the constant; out may be in. */
void mg_minimum_s16__constant(const mg_minimum_s16_params *p, const mg_s16 *in, mg_s16 *out, uint32_t n);

/* Whole tensors, broadcasting as layout.walk says. */
void mg_minimum_s16__broadcast(const mg_minimum_s16_params *p, const mg_s16 *a, const mg_s16 *b, mg_s16 *out);

#endif /* MCUGEN_MINIMUM_S16_H */
