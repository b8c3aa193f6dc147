/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of float images with int8 weights, on cores with Helium: the images were quantized at run time. Four output
 * channels of a pixel at a time.
 *
 *   y = clamp(sum * scale + bias), sum = integer sum over taps of w * (q - zero)
 *
 * weights  for each four output channels and 16 taps: the weights of the first channel, of the second ...; the last taps
 *          have zeros
 * scale, bias, sums  one for each output channel: the weights' scale, bias, sum of the weights
 * steps    groups of 16 taps
 * twice    1: sums are multiplied by the weights' scale, then by the image's; 0: by the product of both
 * relu     1: results have the lower bound 0;   capped: 1: they have an upper bound below that of floats
 * least    the least of the weights' scales
 * reach    before the bias, no result has a magnitude above `reach` times that of the image's scale
 * The build has proved that no sum leaves 32 bits, and that the kernel's columns are adjacent in the image. Needs
 * -ffp-contract=off. Equals HybridConv2D.reference_q in every bit.
 */
#ifndef MCUGEN_HYBRID_CONV2D__MVE_H
#define MCUGEN_HYBRID_CONV2D__MVE_H

#include "mcugen/little_endian.h"
#include "mcugen/filter.h"

typedef struct {
    const int8_t *weights;
    const float *scale, *bias;
    const int32_t *sums;
    MG_WINDOW_FIELDS
    uint16_t images, in_h, out_h, stride_h, dilation_h, pad_h;
    uint16_t steps;
    uint16_t twice, relu, capped;
    float least, reach, out_min, out_max;
} mg_hybrid_conv2d__mve_params;

/* q: images, [in_h, in_w, in_c] each; scale, zero: one for each image; scratch: 8 * out_c + 16 * steps bytes. */
void mg_hybrid_conv2d__mve(const mg_hybrid_conv2d__mve_params *p, const int8_t *q, const mg_f32 *scale, const int8_t *zero,
                           mg_f32 *out, void *scratch);

#endif /* MCUGEN_HYBRID_CONV2D__MVE_H */
