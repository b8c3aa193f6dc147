/* SPDX-License-Identifier: Apache-2.0
 *
 * Sum and difference of int8 tensors for cores with Helium, where the results are steps of a line in the operands.
 *
 *   y = clamp((first * a + second * b + addend + 2^15 + 2^21) >> 22)
 *
 * which is shifted by 16 and then by 6, rounded each time: some assemblers encode the shifts that round down as these.
 * The three numbers were found, and compared with the reference for all pairs of values, when the code was generated; no
 * sum leaves 32 bits. A copy for MG_CLAMP: 1 clamps to out_min, out_max, 0 to all of int8.
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

/* n elements; out may be a or b. */
#define MG_DECLARE_add_s8__mve_line(f) \
    MG_LINKAGE void f(const mg_add_s8__mve_line_params *p, const int8_t *a, const int8_t *b, int8_t *out, uint32_t n)

#endif /* MCUGEN_ADD_S8__MVE_LINE_H */
