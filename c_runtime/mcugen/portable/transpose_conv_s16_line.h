/* SPDX-License-Identifier: Apache-2.0
 *
 * Transposed convolution of int16 images with int8 weights, each result rounded once.
 *
 *   sum = sum over input pixels (i, j), taps (kh, kw) and channels c of
 *         w[o][kh][kw][c] * (x[i][j][c] - in_zero_point),
 *         if i * stride_h + kh - pad_h is the output row and j * stride_w + kw - pad_w the output column
 *   y[o] = line[o](bias[o] + sum), which scales and rounds once: line.h
 *
 * weights blocks of four output channels interleaved: [out_c / 4][kernel_h][kernel_w][in_c][4], then single channels
 * sums    cannot leave 32 bits: proved when the code is generated
 */
/* Copies of this file, one a line, with these words replaced:
 * s16 -> s8, int16 -> int8, mg_s16 -> int8_t, int16_t -> int16_t
 * s16 -> s8w16, int16 -> int8, int8 -> int16, mg_s16 -> int8_t, int16_t -> int16_t
 */
#ifndef MCUGEN_TRANSPOSE_CONV_S16_LINE_H
#define MCUGEN_TRANSPOSE_CONV_S16_LINE_H

#include "mcugen/filter.h"
#include "mcugen/line.h"

typedef struct {
    const int8_t *weights;
    const int32_t *bias;
    mg_line line;
    uint16_t kernel_h, kernel_w;
    uint16_t in_w, in_c;
    uint16_t out_w, out_c;
    uint16_t stride_h, stride_w;
    uint16_t rows;             /* input rows that may reach an output row */
    uint16_t phase_h;          /* remainder of pad_h / stride_h */
    uint16_t first_w, phase_w; /* quotient and remainder of pad_w / stride_w */
    int16_t in_zero_point;
} mg_transpose_conv_s16_line_params;

/* Computes output row y. rows: `rows` input rows, the last of which is row (y + pad_h) / stride_h; NULL outside the
 * image. */
void mg_transpose_conv_s16_line(const mg_transpose_conv_s16_line_params *p, const mg_s16 *const *rows, uint32_t y, mg_s16 *out);

#endif /* MCUGEN_TRANSPOSE_CONV_S16_LINE_H */
