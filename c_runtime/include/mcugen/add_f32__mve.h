/* SPDX-License-Identifier: Apache-2.0
 *
 * Sum of float tensors for cores with Helium.
 *
 *   y = clamp(a + b)
 *
 * low, high: the bounds of y as the bits of floats, whose order is that of integers from 0 on: INT32_MIN or 0, and
 *            INT32_MAX where there is none
 * Equals Add.reference; numbers below 2^-126 count as 0.
 */
#ifndef MCUGEN_ADD_F32__MVE_H
#define MCUGEN_ADD_F32__MVE_H

#include "mcugen/runtime.h"

typedef struct {
    int32_t low, high;
} mg_add_f32__mve_params;

/* n elements of two tensors of one shape; out may be a or b. */
void mg_add_f32__mve(const mg_add_f32__mve_params *p, const mg_f32 *a, const mg_f32 *b, mg_f32 *out, uint32_t n);

#endif /* MCUGEN_ADD_F32__MVE_H */
