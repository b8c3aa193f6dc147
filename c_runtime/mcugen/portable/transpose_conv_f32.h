/* SPDX-License-Identifier: Apache-2.0
 *
 * Transposed convolution of float images with float weights.
 *
 *   sum = sum over input pixels (i, j), taps (kh, kw) and channels c of
 *         w[o][kh][kw][c] * x[i][j][c],
 *         if i * stride_h + kh - pad_h is the output row and j * stride_w + kw - pad_w the output column
 *   y[o] = clamp(bias[o] + sum)
 *
 * weights blocks of four output channels interleaved: [out_c / 4][kernel_h][kernel_w][in_c][4], then single channels
 * halves  kernels with this word in their name read weights of float16, stored as their bits
 * Follows TransposeConv.reference.
 */
#ifndef MCUGEN_TRANSPOSE_CONV_F32_H
#define MCUGEN_TRANSPOSE_CONV_F32_H

#include "mcugen/filter.h"

typedef struct {
    const void *weights;
    const float *bias;
    uint16_t kernel_h, kernel_w;
    uint16_t in_w, in_c;
    uint16_t out_w, out_c;
    uint16_t stride_h, stride_w;
    uint16_t rows;             /* input rows that may reach an output row */
    uint16_t phase_h;          /* remainder of pad_h / stride_h */
    uint16_t first_w, phase_w; /* quotient and remainder of pad_w / stride_w */
    float out_min, out_max;
} mg_transpose_conv_f32_params;

/* Computes output row y. rows: `rows` input rows, the last of which is row (y + pad_h) / stride_h; NULL outside the
 * image. */
void mg_transpose_conv_f32(const mg_transpose_conv_f32_params *p, const mg_f32 *const *rows, uint32_t y, mg_f32 *out);

/* The kernel above with float16 weights. */
void mg_transpose_conv_f32__halves(const mg_transpose_conv_f32_params *p, const mg_f32 *const *rows, uint32_t y,
                                   mg_f32 *out);

#endif /* MCUGEN_TRANSPOSE_CONV_F32_H */
