/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution of int16 images with int8 weights, each result rounded once.
 *
 *   sum = sum over taps of w[o] * x[o / depth_multiplier]
 *   y[o] = line[o](bias[o] + sum), which scales and rounds once: line.h
 *
 * x       [rows of in_w * in_c]; stored values, the zero point is in the bias: bias - in_zero_point * sum(w)
 * weights depth_multiplier 1: blocks of four channels interleaved, [in_c / 4][kernel_h][kernel_w][4], then single
 *         channels [kernel_h][kernel_w]; other multipliers: single channels only
 * sums    cannot leave 32 bits: proved when the code is generated
 */
/* Copies of this file, one a line, with these words replaced:
 * s16 -> s8w16, int16 -> int8, int8 -> int16, mg_s16 -> int8_t, int16_t -> int16_t
 */
#ifndef MCUGEN_DEPTHWISE_CONV2D_S16_LINE_H
#define MCUGEN_DEPTHWISE_CONV2D_S16_LINE_H

#include "mcugen/filter.h"
#include "mcugen/line.h"

typedef struct {
    const int8_t *weights;
    const int32_t *bias;
    mg_line line;
    MG_WINDOW_FIELDS
    int16_t in_zero_point;
    uint16_t depth_multiplier;
} mg_depthwise_conv2d_s16_line_params;

/* Computes one output row. rows: kernel_h input rows; rows outside the image are filled with in_zero_point.
 * out: out_w * out_c. */
void mg_depthwise_conv2d_s16_line(const mg_depthwise_conv2d_s16_line_params *p, const mg_s16 *const *rows, uint32_t y, mg_s16 *out);

#endif /* MCUGEN_DEPTHWISE_CONV2D_S16_LINE_H */
