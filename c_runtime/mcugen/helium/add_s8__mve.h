/* SPDX-License-Identifier: Apache-2.0
 *
 * Sum and difference of int8 tensors for cores with Helium.
 *
 *   fine = narrow_terms[narrow] + wide * wide_factor
 *   y    = clamp(divide(high_mul(fine, out_mult), out_shift) + out_zero_point)
 *
 * wide, narrow  the operand with the larger scale and the one with the smaller scale; narrow_first: 1 if a is narrow
 * narrow_terms  [256], indexed by the narrow value as uint8: in sum.h's formula of `fine`, the term of this value plus
 *               the term of the zero point of wide
 * out_shift     1 or more: shift to the right, halves rounded away from zero
 * Equals the reference runtime's Add and Sub for int8.
 */
#ifndef MCUGEN_ADD_S8__MVE_H
#define MCUGEN_ADD_S8__MVE_H

#include "mcugen/little_endian.h"
#include "mcugen/mve.h"

typedef struct {
    const int32_t *narrow_terms;
    int32_t wide_factor, out_mult;
    int32_t out_shift, out_zero_point;
    int32_t out_min, out_max;
    uint8_t narrow_first;
} mg_add_s8__mve_params;

/* Computes n elements; `out` may be equal to `a` or `b`. */
void mg_add_s8__mve(const mg_add_s8__mve_params *p, const int8_t *a, const int8_t *b, int8_t *out, uint32_t n);

#endif /* MCUGEN_ADD_S8__MVE_H */
