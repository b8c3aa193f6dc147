/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution of float images with at least four channels for cores with Helium, up to four pixels and four
 * channels at a time.
 *
 *   sum = sum over taps of w[c] * x[c]
 *   y[c] = clamp(bias[c] + sum)
 *
 * x          float [rows of in_w * in_c]
 * weights    groups of four channels [bias [4], taps [kernel_h][kernel_w][4]]; the last group ends with the last
 *            channel
 * low, high  bounds of the outputs, as the bits of floats, which compare like integers from 0 on. low: 0, or INT32_MIN
 *            if there is none; high: INT32_MAX if there is none
 * Sums start at the bias and run over kernel rows and columns, in this order; taps outside the image are skipped. A
 * product and its addition are rounded together if the core does that. Numbers below 2^-126 count as 0. Follows
 * DepthwiseConv2D.reference.
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

/* Computes one output row. rows: kernel_h input rows; rows outside the image are filled with zeros. out: out_w * out_c.
 */
void mg_depthwise_conv2d_f32__mve(const mg_depthwise_conv2d_f32__mve_params *p, const mg_f32 *const *rows, uint32_t y,
                                  mg_f32 *out);

#endif /* MCUGEN_DEPTHWISE_CONV2D_F32__MVE_H */
