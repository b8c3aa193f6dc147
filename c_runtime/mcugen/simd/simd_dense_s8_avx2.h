/* SPDX-License-Identifier: Apache-2.0
 *
 * The products of simd_dense.h with weights of s8, int8, or s8w16, int16, with the best set up to avx2.
 */
/* Copies of this file, one a line, with these words replaced:
 * avx2 -> vnni
 * s8 -> s8w16
 * avx2 -> neon
 * avx2 -> dotprod
 * avx2 -> neon, s8 -> s8w16
 */
#ifndef MCUGEN_SIMD_DENSE_S8_AVX2_H
#define MCUGEN_SIMD_DENSE_S8_AVX2_H

#include "mcugen/simd_dense.h"

/* Computes `pixels` pixels. out: pixels * out_c. */
MG_LINKAGE void mg_simd_dense_s8_avx2(const mg_simd_dense *p, const uint8_t *const *rows, uint32_t pixels, int8_t *out);

#endif /* MCUGEN_SIMD_DENSE_S8_AVX2_H */
