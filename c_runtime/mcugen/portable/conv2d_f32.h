/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of float images with float weights.
 *
 *   sum = sum over taps and channels of w[o] * x
 *   y[o] = clamp(bias[o] + sum)
 *
 * x       float [rows of in_w * in_c]
 * weights [groups] of: pairs of output channels interleaved [group_out_c / 2][kernel_h][kernel_w][group_in_c][2], then an
 *         odd last channel [kernel_h][kernel_w][group_in_c]
 * halves  kernels with this word in their name read weights of float16, stored as their bits
 * Follows Conv2D.reference; sums run over kernel rows, columns and channels in this order.
 */
#ifndef MCUGEN_CONV2D_F32_H
#define MCUGEN_CONV2D_F32_H

#include "mcugen/filter.h"

typedef struct {
    const void *weights;
    const float *bias;
    MG_WINDOW_FIELDS
    float out_min, out_max;
    uint16_t groups, group_in_c, group_out_c;
} mg_conv2d_f32_params;

/* Computes one output row. rows: kernel_h input rows; rows outside the image are filled with zeros.
 * out: out_w * out_c.  scratch: 2 * kernel_h * kernel_w * group_in_c elements. */
void mg_conv2d_f32(const mg_conv2d_f32_params *p, const mg_f32 *const *rows, uint32_t y, mg_f32 *out, mg_f32 *scratch);

/* Computes n pixels of a 1x1 convolution with stride 1. in: n * in_c, out: n * out_c. */
void mg_conv2d_f32__pointwise(const mg_conv2d_f32_params *p, const mg_f32 *in, mg_f32 *out, uint32_t n);

/* The kernel above with float16 weights. */
void mg_conv2d_f32__halves(const mg_conv2d_f32_params *p, const mg_f32 *const *rows, uint32_t y, mg_f32 *out,
                           mg_f32 *scratch);
void mg_conv2d_f32__halves_pointwise(const mg_conv2d_f32_params *p, const mg_f32 *in, mg_f32 *out, uint32_t n);

#endif /* MCUGEN_CONV2D_F32_H */
