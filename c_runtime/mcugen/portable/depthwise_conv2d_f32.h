/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution of float images with float weights.
 *
 *   sum = sum over taps of w[o] * x[o / depth_multiplier]
 *   y[o] = clamp(bias[o] + sum)
 *
 * x       float [rows of in_w * in_c]
 * weights depth_multiplier 1: blocks of four channels interleaved, [in_c / 4][kernel_h][kernel_w][4], then single
 *         channels [kernel_h][kernel_w]; other multipliers: single channels only
 * halves  kernels with this word in their name read weights of float16, stored as their bits
 * Follows DepthwiseConv2D.reference; sums run over kernel rows and columns in this order.
 */
#ifndef MCUGEN_DEPTHWISE_CONV2D_F32_H
#define MCUGEN_DEPTHWISE_CONV2D_F32_H

#include "mcugen/filter.h"

typedef struct {
    const void *weights;
    const float *bias;
    MG_WINDOW_FIELDS
    float out_min, out_max;
    uint16_t depth_multiplier;
} mg_depthwise_conv2d_f32_params;

/* Computes one output row. rows: kernel_h input rows; rows outside the image are filled with zeros.
 * out: out_w * out_c. */
void mg_depthwise_conv2d_f32(const mg_depthwise_conv2d_f32_params *p, const mg_f32 *const *rows, uint32_t y, mg_f32 *out);

/* The kernel above with float16 weights. */
void mg_depthwise_conv2d_f32__halves(const mg_depthwise_conv2d_f32_params *p, const mg_f32 *const *rows, uint32_t y,
                                     mg_f32 *out);

#endif /* MCUGEN_DEPTHWISE_CONV2D_F32_H */
