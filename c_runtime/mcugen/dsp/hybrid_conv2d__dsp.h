/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of float images with int8 weights, on cores with SMLAD and floats: the images were quantized at run time.
 * Three pixels times two output channels at a time.
 *
 *   y = clamp(sum * scale + bias), sum = integer sum over taps of w * (q - zero)
 *
 * stream   for each pair of output channels (a, b): `words` words of weights, two taps each, a + 256 b; the weights'
 *          scales of a, b; the biases of a, b. Of four taps, word 0 has taps 0 and 2, word 1 taps 1 and 3, as int16 from
 *          the lower half on. words: a multiple of 4; the last have zeros
 * twice    1: sums are multiplied by the weights' scale, then by the image's; 0: by the product of both
 * relu     1: results have the lower bound 0;   capped: 1: they have an upper bound below that of floats
 * reach    before the bias, no result has a magnitude above `reach` times that of the image's scale
 * The build has proved that no sum leaves 23 bits, and that the kernel's columns are adjacent in the image. Needs
 * -ffp-contract=off. Equals HybridConv2D.reference_q in every bit.
 */
#ifndef MCUGEN_HYBRID_CONV2D__DSP_H
#define MCUGEN_HYBRID_CONV2D__DSP_H

#include "mcugen/little_endian.h"
#include "mcugen/filter.h"

typedef struct {
    const uint32_t *stream;
    MG_WINDOW_FIELDS
    uint16_t images, in_h, out_h, stride_h, dilation_h, pad_h;
    uint16_t words;
    uint16_t twice, relu, capped;
    float reach, out_min, out_max;
} mg_hybrid_conv2d__dsp_params;

/* q: images, [in_h, in_w, in_c] each; scale, zero: one for each image; scratch: 14 * words bytes. */
void mg_hybrid_conv2d__dsp(const mg_hybrid_conv2d__dsp_params *p, const int8_t *q, const mg_f32 *scale, const int8_t *zero,
                           mg_f32 *out, void *scratch);

#endif /* MCUGEN_HYBRID_CONV2D__DSP_H */
