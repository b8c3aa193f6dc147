/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of float images, and fully connected layer on float vectors, with float weights, for cores with Helium:
 * up to three pixels and eight output channels at a time.
 *
 *   sum = sum over taps and channels of w[o] * x
 *   y[o] = clamp(bias[o] + sum)
 *
 * x          float [rows of in_w * in_c]
 * weights    groups of eight output channels [bias [8], taps [kernel_h][kernel_w][in_c][8]], zeros behind the last
 *            channel; if four channels or fewer are left, a group of four
 *            The _halves kernels: taps are float16, two to a word, the first in the lower half; biases are float
 * low, high  bounds of the outputs, as the bits of floats, which compare like integers from 0 on. low: 0, or INT32_MIN
 *            if there is none; high: INT32_MAX if there is none
 * Sums start at the bias and run over kernel rows, columns and channels, in this order; taps outside the image are
 * skipped.
 * A product and its addition are rounded together if the core does that. Numbers below 2^-126 count as 0. Follows
 * Conv2D.reference.
 */
#ifndef MCUGEN_CONV2D_F32__MVE_H
#define MCUGEN_CONV2D_F32__MVE_H

#include "mcugen/little_endian.h"
#include "mcugen/filter.h"

/* taps, outputs: number of taps and of outputs of a pixel. */
typedef struct {
    const void *weights;
    uint32_t taps, outputs;
    int32_t low, high;
    MG_WINDOW_FIELDS
} mg_conv2d_f32__mve_params;

/* Computes one output row. rows: kernel_h input rows; rows outside the image are filled with zeros. out: out_w * out_c.
 */
void mg_conv2d_f32__mve(const mg_conv2d_f32__mve_params *p, const mg_f32 *const *rows, uint32_t y, mg_f32 *out);

/* Computes n pixels of a 1x1 convolution with stride 1, or n vectors. in: n * taps, out: n * outputs. */
void mg_conv2d_f32__mve_pointwise(const mg_conv2d_f32__mve_params *p, const mg_f32 *in, mg_f32 *out, uint32_t n);

/* The kernels above with float16 weights. */
void mg_conv2d_f32__mve_halves(const mg_conv2d_f32__mve_params *p, const mg_f32 *const *rows, uint32_t y, mg_f32 *out);
void mg_conv2d_f32__mve_halves_pointwise(const mg_conv2d_f32__mve_params *p, const mg_f32 *in, mg_f32 *out, uint32_t n);

#endif /* MCUGEN_CONV2D_F32__MVE_H */
