/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution of float images with int8 weights: the images were quantized at run time.
 *
 * weights  [kernel_h][kernel_w][out_c];   multiplier: output channels of each input channel
 * Equals HybridDepthwiseConv2D.reference_q in every bit.
 */
#ifndef MCUGEN_HYBRID_DEPTHWISE_CONV2D_H
#define MCUGEN_HYBRID_DEPTHWISE_CONV2D_H

#include "mcugen/hybrid.h"

typedef struct {
    MG_HYBRID_FIELDS
    uint32_t multiplier;
} mg_hybrid_depthwise_conv2d_params;

/* q: images, [in_h, in_w, in_c] each; scale, zero: one for each image. */
void mg_hybrid_depthwise_conv2d(const mg_hybrid_depthwise_conv2d_params *p, const int8_t *q, const mg_f32 *scale,
                                const int8_t *zero, mg_f32 *out);

#endif /* MCUGEN_HYBRID_DEPTHWISE_CONV2D_H */
