/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of int8 images with weights of 4 bits that have a factor for each block, each result rounded once.
 *
 *   sum = sum over blocks j of factor[o][j] * (sum over the taps and channels of block j of w[o] * x)
 *   y[o] = line[o](bias[o] + sum), which scales and rounds once: line.h
 *
 * x       [rows of in_w * in_c]; stored values, the zero point is in the bias: bias - in_zero_point * sum(w)
 * weights, factors: see block_rows.h; a row has the order [kernel_h][kernel_w][in_c]
 * sums    cannot leave 32 bits: proved when the code is generated
 */
#ifndef MCUGEN_CONV2D_S8B4_LINE_H
#define MCUGEN_CONV2D_S8B4_LINE_H

#include "mcugen/block_rows.h"
#include "mcugen/filter.h"

typedef struct {
    MG_BLOCK_FIELDS
    MG_WINDOW_FIELDS
    int16_t in_zero_point;
} mg_conv2d_s8b4_line_params;

/* Computes one output row. rows: kernel_h input rows; rows outside the image are filled with in_zero_point.
 * out: out_w * out_c.  scratch: kernel_h * kernel_w * in_c elements. */
void mg_conv2d_s8b4_line(const mg_conv2d_s8b4_line_params *p, const int8_t *const *rows, uint32_t y, int8_t *out,
                         int8_t *scratch);

#endif /* MCUGEN_CONV2D_S8B4_LINE_H */
