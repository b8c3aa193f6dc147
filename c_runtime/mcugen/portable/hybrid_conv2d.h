/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of float images with int8 weights: the images were quantized at run time.
 *
 * weights  [out_c][taps], taps = kernel_h * kernel_w * in_c / groups;   sums: of the weights of each output channel
 * twice    1: sums are multiplied by the weights' scale, then by the image's; 0: by the product of both
 * Equals HybridConv2D.reference_q in every bit.
 */
#ifndef MCUGEN_HYBRID_CONV2D_H
#define MCUGEN_HYBRID_CONV2D_H

#include "mcugen/hybrid.h"

typedef struct {
    MG_HYBRID_FIELDS
    const int32_t *sums;
    uint32_t groups, taps;
    uint32_t twice;
} mg_hybrid_conv2d_params;

/* q: images, [in_h, in_w, in_c] each; scale, zero: one for each image; scratch: taps bytes. */
void mg_hybrid_conv2d(const mg_hybrid_conv2d_params *p, const int8_t *q, const mg_f32 *scale, const int8_t *zero,
                      mg_f32 *out, void *scratch);

#endif /* MCUGEN_HYBRID_CONV2D_H */
