/* SPDX-License-Identifier: Apache-2.0
 *
 * Sum and difference of int8 tensors for cores with Helium, if the output is a rounded linear function of the operands.
 *
 *   y = clamp((first * a + second * b + addend + 2^15 + 2^21) >> 22)
 *
 * The shift by 22 is a shift by 16 and a shift by 6, each of which rounds: some assemblers encode shifts that round
 * down as shifts that round. first, second and addend are chosen when the code is generated, and the formula is then
 * compared with the reference for all pairs of values; no sum leaves 32 bits.
 * MG_CLAMP: 1: clamps to out_min, out_max; 0: to all of int8.
 * Equals the reference runtime's Add and Sub for int8.
 */
#ifndef MCUGEN_ADD_S8__MVE_LINE_H
#define MCUGEN_ADD_S8__MVE_LINE_H

#include "mcugen/little_endian.h"
#include "mcugen/mve.h"
#include "mcugen/variant.h"

typedef struct {
    int32_t first, second, addend;
    int32_t out_min, out_max;
} mg_add_s8__mve_line_params;

/* Computes n elements; `out` may be equal to `a` or `b`. */
#define MG_DECLARE_add_s8__mve_line(f) \
    MG_LINKAGE void f(const mg_add_s8__mve_line_params *p, const int8_t *a, const int8_t *b, int8_t *out, uint32_t n)

#endif /* MCUGEN_ADD_S8__MVE_LINE_H */
