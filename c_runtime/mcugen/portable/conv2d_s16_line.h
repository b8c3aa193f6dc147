/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of int16 images with int8 weights, each result rounded once.
 *
 *   sum = sum over taps and channels of w[o] * x
 *   y[o] = line[o](bias[o] + sum), which scales and rounds once: line.h
 *
 * x       [rows of in_w * in_c]; stored values, the zero point is in the bias: bias - in_zero_point * sum(w)
 * weights [groups] of: pairs of output channels interleaved [group_out_c / 2][kernel_h][kernel_w][group_in_c][2], then an
 *         odd last channel [kernel_h][kernel_w][group_in_c]
 * sums    cannot leave 32 bits: proved when the code is generated
 */
/* Copies of this file, one a line, with these words replaced:
 * s16 -> s8w16, int16 -> int8, int8 -> int16, mg_s16 -> int8_t, int16_t -> int16_t
 */
#ifndef MCUGEN_CONV2D_S16_LINE_H
#define MCUGEN_CONV2D_S16_LINE_H

#include "mcugen/filter.h"
#include "mcugen/line.h"

typedef struct {
    const int8_t *weights;
    const int32_t *bias;
    mg_line line;
    MG_WINDOW_FIELDS
    int16_t in_zero_point;
    uint16_t groups, group_in_c, group_out_c;
} mg_conv2d_s16_line_params;

/* Computes one output row. rows: kernel_h input rows; rows outside the image are filled with in_zero_point.
 * out: out_w * out_c.  scratch: 2 * kernel_h * kernel_w * group_in_c elements. */
void mg_conv2d_s16_line(const mg_conv2d_s16_line_params *p, const mg_s16 *const *rows, uint32_t y, mg_s16 *out, mg_s16 *scratch);

/* Computes n pixels of a 1x1 convolution with stride 1. in: n * in_c, out: n * out_c. */
void mg_conv2d_s16_line__pointwise(const mg_conv2d_s16_line_params *p, const mg_s16 *in, mg_s16 *out, uint32_t n);

#endif /* MCUGEN_CONV2D_S16_LINE_H */
