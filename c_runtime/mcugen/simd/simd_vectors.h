/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of int8 vectors with an int8 or int16 matrix: pixels of a 1x1 convolution, or a fully connected layer.
 *
 *   y[o] = clamp(requantize(bias[o] + sum over k of w[o][k] * x[k], mult[o], shift[o]) + out_zero_point)
 *
 * in       int8 [n][in_c]
 * scratch  uint8 [block][in_c] and three bytes more: vectors that are computed together, on x86-64 with the top bit of
 *          values flipped
 * dense    the matrix, see simd_dense.h
 * Equals the reference runtime's Conv2D and FullyConnected for int8 data.
 */
#ifndef MCUGEN_SIMD_VECTORS_H
#define MCUGEN_SIMD_VECTORS_H

#include "mcugen/simd_dense.h"

typedef struct {
    mg_simd_dense dense;
    uint32_t in_c, block;
} mg_simd_vectors_params;

/* The part after `__` is the best set that a kernel uses. */
void mg_fully_connected_s8__avx2(const mg_simd_vectors_params *p, const int8_t *in, int8_t *out, uint8_t *scratch,
                                 uint32_t n);
void mg_fully_connected_s8__vnni(const mg_simd_vectors_params *p, const int8_t *in, int8_t *out, uint8_t *scratch,
                                 uint32_t n);
void mg_fully_connected_s8w16__avx2(const mg_simd_vectors_params *p, const int8_t *in, int8_t *out, uint8_t *scratch,
                                    uint32_t n);
void mg_fully_connected_s8__neon(const mg_simd_vectors_params *p, const int8_t *in, int8_t *out, uint8_t *scratch,
                                 uint32_t n);
void mg_fully_connected_s8__dotprod(const mg_simd_vectors_params *p, const int8_t *in, int8_t *out, uint8_t *scratch,
                                    uint32_t n);
void mg_fully_connected_s8w16__neon(const mg_simd_vectors_params *p, const int8_t *in, int8_t *out, uint8_t *scratch,
                                    uint32_t n);

#endif /* MCUGEN_SIMD_VECTORS_H */
