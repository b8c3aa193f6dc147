/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution of float images with at least four channels for cores with Helium, up to four pixels and four
 * channels at a time.
 *
 *   sum = sum over taps of w[c] * x[c]
 *   y[c] = clamp(bias[c] + sum)
 *
 * x       float [rows of in_w * in_c]
 * weights groups of four channels [bias [4], taps [kernel_h][kernel_w][4]]; the last group ends with the last channel
 * low, high: the bounds of outputs as the bits of floats, whose order is that of integers from 0 on: INT32_MIN or 0,
 * and
 *         INT32_MAX where there is none
 * Follows DepthwiseConv2D.reference; a product and its sum are rounded together where the core does that, sums run over
 * kernel rows and columns in this order, from the bias on; taps outside the image are skipped. Numbers below 2^-126
 * count as 0.
 */
#ifndef MCUGEN_DEPTHWISE_CONV2D_F32__MVE_H
#define MCUGEN_DEPTHWISE_CONV2D_F32__MVE_H

#include "mcugen/little_endian.h"
#include "mcugen/filter.h"

typedef struct {
    const float *weights;
    int32_t low, high;
    MG_WINDOW_FIELDS
} mg_depthwise_conv2d_f32__mve_params;

/* One output row. rows: kernel_h input rows, those outside the image filled with zeros. out: out_w * out_c. */
void mg_depthwise_conv2d_f32__mve(const mg_depthwise_conv2d_f32__mve_params *p, const mg_f32 *const *rows, uint32_t y,
                                  mg_f32 *out);

#endif /* MCUGEN_DEPTHWISE_CONV2D_F32__MVE_H */
