/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of int8 images with int16 weights, sums scaled by a float32.
 *
 *   sum = sum over taps and channels of w[o] * x
 *   y[o] = single[o](bias[o] + sum), which scales in float32: single.h
 *
 * x       [rows of in_w * in_c]; stored values, the zero point is in the bias: bias - in_zero_point * sum(w)
 * weights [groups] of: pairs of output channels interleaved [group_out_c / 2][kernel_h][kernel_w][group_in_c][2], then an
 *         odd last channel [kernel_h][kernel_w][group_in_c]
 * sums    cannot leave 32 bits: proved when the code is generated
 */
/* Copies of this file, one a line, with these words replaced:
 * s8w16 -> s8, int16 weights -> int8 weights, int16_t *weights -> int8_t *weights
 */
#ifndef MCUGEN_CONV2D_S8W16_SINGLE_H
#define MCUGEN_CONV2D_S8W16_SINGLE_H

#include "mcugen/filter.h"
#include "mcugen/single.h"

typedef struct {
    const int16_t *weights;
    const int32_t *bias;
    mg_single single;
    MG_WINDOW_FIELDS
    int16_t in_zero_point;
    uint16_t groups, group_in_c, group_out_c;
} mg_conv2d_s8w16_single_params;

/* Computes one output row. rows: kernel_h input rows; rows outside the image are filled with in_zero_point.
 * out: out_w * out_c.  scratch: 2 * kernel_h * kernel_w * group_in_c elements. */
void mg_conv2d_s8w16_single(const mg_conv2d_s8w16_single_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, int8_t *scratch);

/* Computes n pixels of a 1x1 convolution with stride 1. in: n * in_c, out: n * out_c. */
void mg_conv2d_s8w16_single__pointwise(const mg_conv2d_s8w16_single_params *p, const int8_t *in, int8_t *out, uint32_t n);

#endif /* MCUGEN_CONV2D_S8W16_SINGLE_H */
