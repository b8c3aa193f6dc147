/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of float images, and fully connected layer on float vectors, with float weights: four pixels and four
 * output channels at a time.
 *
 *   sum = sum over taps and channels of w[o] * x
 *   y[o] = clamp(bias[o] + sum)
 *
 * x        float [rows of in_w * in_c]
 * weights  groups of four output channels [bias [4], taps [kernel_h][kernel_w][in_c][4]]; zeros behind the last channel
 *          The _halves kernels: taps are float16, two to a word, the first in the lower half; biases are float
 * Sums start at the bias and run over kernel rows, columns and channels, in this order. A product and its addition are
 * rounded together if the core has an instruction for it. Follows Conv2D.reference.
 */
#ifndef MCUGEN_QUADS_F32_H
#define MCUGEN_QUADS_F32_H

#include "mcugen/filter.h"

#define MG_QUADS_NONE 0u
#define MG_QUADS_RELU 1u
#define MG_QUADS_CAPPED 2u

/* taps, outputs: number of taps and of outputs of a pixel. kind: bounds of the outputs: MG_QUADS_NONE; _RELU: 0 or
 * more; _CAPPED: 0 to out_max. outside: in_c zeros. */
typedef struct {
    const void *weights;
    uint32_t taps, outputs, kind;
    float out_max;
    const float *outside;
    MG_WINDOW_FIELDS
} mg_quads_f32_params;

/* Computes one output row. rows: kernel_h input rows; rows outside the image are filled with zeros. out: out_w * out_c.
 * scratch: 4 * kernel_h * kernel_w pointers, then `outputs` floats. */
void mg_conv2d_f32__quads(const mg_quads_f32_params *p, const mg_f32 *const *rows, uint32_t y, mg_f32 *out, void *scratch);

/* Computes one output row of a depthwise convolution of at least four channels. weights: as above with in_c = 1, per
 * four channels; the last group of four ends with the last channel. */
void mg_depthwise_conv2d_f32__quads(const mg_quads_f32_params *p, const mg_f32 *const *rows, uint32_t y, mg_f32 *out,
                                    void *scratch);

/* Computes n pixels of a 1x1 convolution with stride 1, or n vectors. in: n * taps, out: n * outputs. scratch:
 * `outputs` floats. */
void mg_conv2d_f32__quads_pointwise(const mg_quads_f32_params *p, const mg_f32 *in, mg_f32 *out, void *scratch, uint32_t n);

/* Computes n vectors. in: n * taps, out: n * outputs. weights: groups of eight outputs [bias [8], taps [8]]. */
void mg_fully_connected_f32__eights(const mg_quads_f32_params *p, const mg_f32 *in, mg_f32 *out, uint32_t n);

/* The kernels above with float16 weights. */
void mg_conv2d_f32__quads_halves(const mg_quads_f32_params *p, const mg_f32 *const *rows, uint32_t y, mg_f32 *out,
                                 void *scratch);
void mg_depthwise_conv2d_f32__quads_halves(const mg_quads_f32_params *p, const mg_f32 *const *rows, uint32_t y, mg_f32 *out,
                                           void *scratch);
void mg_conv2d_f32__quads_halves_pointwise(const mg_quads_f32_params *p, const mg_f32 *in, mg_f32 *out, void *scratch,
                                           uint32_t n);
void mg_fully_connected_f32__eights_halves(const mg_quads_f32_params *p, const mg_f32 *in, mg_f32 *out, uint32_t n);

#endif /* MCUGEN_QUADS_F32_H */
