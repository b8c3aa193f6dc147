/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of int8 images with int8 or int16 weights in vectors.
 *
 *   y[o] = clamp(requantize(bias[o] + sum over taps and channels of w[o] * x, mult[o], shift[o]) + out_zero_point)
 *
 * in      int8 [rows of in_len]
 * row     uint8 [row_len]: `before` bytes `outside`, a row of the image, `outside` up to the end; on x86-64 with the
 *         top bit of stored values flipped
 * dense   the window on these rows, see simd_dense.h
 * Equals the reference runtime's Conv2D for int8 data.
 */
#ifndef MCUGEN_SIMD_CONV_H
#define MCUGEN_SIMD_CONV_H

#include "mcugen/simd_dense.h"

typedef struct {
    mg_simd_dense dense;
    uint32_t in_len, before, row_len, out_w;
    uint8_t outside;
} mg_simd_conv_params;

/* The part after `__` is the best set that a kernel uses. */
void mg_conv2d_s8__avx2_row(const mg_simd_conv_params *p, const int8_t *in, uint8_t *row);
void mg_conv2d_s8__avx2(const mg_simd_conv_params *p, const uint8_t *const *rows, int8_t *out);

void mg_conv2d_s8__vnni_row(const mg_simd_conv_params *p, const int8_t *in, uint8_t *row);
void mg_conv2d_s8__vnni(const mg_simd_conv_params *p, const uint8_t *const *rows, int8_t *out);

void mg_conv2d_s8w16__avx2_row(const mg_simd_conv_params *p, const int8_t *in, uint8_t *row);
void mg_conv2d_s8w16__avx2(const mg_simd_conv_params *p, const uint8_t *const *rows, int8_t *out);

void mg_conv2d_s8__neon_row(const mg_simd_conv_params *p, const int8_t *in, uint8_t *row);
void mg_conv2d_s8__neon(const mg_simd_conv_params *p, const uint8_t *const *rows, int8_t *out);

void mg_conv2d_s8__dotprod_row(const mg_simd_conv_params *p, const int8_t *in, uint8_t *row);
void mg_conv2d_s8__dotprod(const mg_simd_conv_params *p, const uint8_t *const *rows, int8_t *out);

void mg_conv2d_s8w16__neon_row(const mg_simd_conv_params *p, const int8_t *in, uint8_t *row);
void mg_conv2d_s8w16__neon(const mg_simd_conv_params *p, const uint8_t *const *rows, int8_t *out);

#endif /* MCUGEN_SIMD_CONV_H */
