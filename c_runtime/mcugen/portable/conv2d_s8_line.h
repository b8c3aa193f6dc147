/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of int8 images with int8 weights, each result rounded once.
 *
 *   sum = sum over taps and channels of w[o] * x
 *   y[o] = line[o](bias[o] + sum), which scales and rounds once: line.h
 *
 * x       [rows of in_w * in_c]; stored values, the zero point is in the bias: bias - in_zero_point * sum(w)
 * weights [groups] of: pairs of output channels interleaved [group_out_c / 2][kernel_h][kernel_w][group_in_c][2], then an
 *         odd last channel [kernel_h][kernel_w][group_in_c]
 * sums    cannot leave 32 bits: proved when the code is generated
 */
#ifndef MCUGEN_CONV2D_S8_LINE_H
#define MCUGEN_CONV2D_S8_LINE_H

#include "mcugen/filter.h"
#include "mcugen/line.h"

typedef struct {
    const int8_t *weights;
    const int32_t *bias;
    mg_line line;
    MG_WINDOW_FIELDS
    int16_t in_zero_point;
    uint16_t groups, group_in_c, group_out_c;
} mg_conv2d_s8_line_params;

/* Computes one output row. rows: kernel_h input rows; rows outside the image are filled with in_zero_point.
 * out: out_w * out_c.  scratch: 2 * kernel_h * kernel_w * group_in_c elements. */
void mg_conv2d_s8_line(const mg_conv2d_s8_line_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, int8_t *scratch);

/* Computes n pixels of a 1x1 convolution with stride 1. in: n * in_c, out: n * out_c. */
void mg_conv2d_s8_line__pointwise(const mg_conv2d_s8_line_params *p, const int8_t *in, int8_t *out, uint32_t n);

/* Variants with 4-bit weights: two to a byte, in the order above, the first in the lower half. The convolution has one
 * group. */
void mg_conv2d_s8_line__nibbles(const mg_conv2d_s8_line_params *p, const int8_t *const *rows, uint32_t y,
                                int8_t *out, int8_t *scratch);
void mg_conv2d_s8_line__nibbles_pointwise(const mg_conv2d_s8_line_params *p, const int8_t *in, int8_t *out,
                                          uint32_t n);

#endif /* MCUGEN_CONV2D_S8_LINE_H */
