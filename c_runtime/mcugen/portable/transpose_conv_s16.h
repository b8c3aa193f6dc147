/* SPDX-License-Identifier: Apache-2.0
 *
 * Transposed convolution of int16 images with int8 weights, one multiplier per output channel.
 *
 *   sum = sum over input pixels (i, j), taps (kh, kw) and channels c of
 *         w[o][kh][kw][c] * x[i][j][c],
 *         if i * stride_h + kh - pad_h is the output row and j * stride_w + kw - pad_w the output column
 *   y[o] = clamp(requantize(bias[o] + sum, mult[o], shift[o]) + out_zero_point)
 *
 * weights blocks of four output channels interleaved: [out_c / 4][kernel_h][kernel_w][in_c][4], then single channels
 * sums    cannot leave 32 bits: proved when the code is generated
 *         __acc64 kernels: sums of any size, wrapped to 32 bits unless wide
 * Equals the reference runtime's TransposeConv for int16 data (wide: 16-bit multiplier and one rounding).
 */
#ifndef MCUGEN_TRANSPOSE_CONV_S16_H
#define MCUGEN_TRANSPOSE_CONV_S16_H

#include "mcugen/filter.h"

typedef struct {
    const int8_t *weights;
    const int64_t *bias;
    uint16_t kernel_h, kernel_w;
    uint16_t in_w, in_c;
    uint16_t out_w, out_c;
    uint16_t stride_h, stride_w;
    uint16_t rows;             /* input rows that may reach an output row */
    uint16_t phase_h;          /* remainder of pad_h / stride_h */
    uint16_t first_w, phase_w; /* quotient and remainder of pad_w / stride_w */
    MG_INTEGER_FIELDS
    uint8_t wide;
} mg_transpose_conv_s16_params;

/* Computes output row y. rows: `rows` input rows, the last of which is row (y + pad_h) / stride_h; NULL outside the
 * image. */
void mg_transpose_conv_s16(const mg_transpose_conv_s16_params *p, const mg_s16 *const *rows, uint32_t y, mg_s16 *out);
void mg_transpose_conv_s16__acc64(const mg_transpose_conv_s16_params *p, const mg_s16 *const *rows, uint32_t y, mg_s16 *out);

#endif /* MCUGEN_TRANSPOSE_CONV_S16_H */
