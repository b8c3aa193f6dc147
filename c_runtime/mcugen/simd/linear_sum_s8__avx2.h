/* SPDX-License-Identifier: Apache-2.0
 *
 * Sum and difference of int8 tensors in vectors, if one linear form gives the same bits as all their roundings: see
 * mg_simd_sum.
 * Equals the reference runtime's Add and Sub for int8: all pairs of values were compared when the code was generated.
 */
/* Copies of this file, one a line, with these words replaced:
 * avx2 -> neon
 */
#ifndef MCUGEN_LINEAR_SUM_S8__AVX2_H
#define MCUGEN_LINEAR_SUM_S8__AVX2_H

#include "mcugen/simd.h"

typedef struct {
    mg_simd_sum sum;
} mg_linear_sum_s8__avx2_params;

/* Computes n elements; `out` may be equal to `a` or `b`. */
void mg_linear_sum_s8__avx2(const mg_linear_sum_s8__avx2_params *p, const int8_t *a, const int8_t *b, int8_t *out,
                            uint32_t n);

#endif /* MCUGEN_LINEAR_SUM_S8__AVX2_H */
