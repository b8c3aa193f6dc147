/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution of int8 images with int8 or int16 weights in vectors, each input channel with one output
 * channel.
 *
 *   y[c] = clamp(requantize(bias[c] + sum over taps of w[c] * (x[c] - zero_point), mult[c], shift[c]) + out_zero_point)
 *
 * in       int8 [rows of in_len]
 * row      int16 [row_len]: `before` zeros, a row of the image less its zero point, zeros up to the end; of
 *          __neon_bytes int8: `before` zero points, a row of the image, zero points up to the end; its bias includes
 *          -zero_point * sum(w)
 * weights  int16 [tiles][pairs][32]: 16 channels and two taps at a time, in the order of mg_plain_dot_s16; filled up
 *          with zeros; of __neon_bytes int8, in the order of mg_plain_dot_s8
 * taps     uint32 [2 * pairs]: for each tap the row of the window, and from bit 8 on the elements from the first
 *          output's first column to the tap's; an odd last tap is read twice
 * step     elements from an output's first column to the next output's
 * pixels, channels, tiles  outputs of a row, their channels, and blocks of 16 of these. A row of few channels is taken
 *          as pixels of 16 channels
 * Sums wrap to 32 bits, as those of the reference runtimes do. Equals the reference runtime's DepthwiseConv2D.
 */
#ifndef MCUGEN_SIMD_DEPTHWISE_H
#define MCUGEN_SIMD_DEPTHWISE_H

#include "mcugen/variant.h"
#include "mcugen/simd.h"

#define MG_SIMD_MOST_PAIRS 64u

typedef struct {
    const void *weights;
    const uint32_t *taps;
    mg_simd_scale scale;
    uint32_t in_len, before, row_len;
    uint32_t pairs, step, pixels, channels, tiles;
    int16_t zero_point;
} mg_simd_depthwise_params;

typedef mg_s16 mg_simd_element_s16;
typedef int8_t mg_simd_element_s8;
typedef int16_t mg_simd_tap_s16;
typedef int8_t mg_simd_tap_s8;

void mg_depthwise_conv2d_s8__avx2_row(const mg_simd_depthwise_params *p, const int8_t *in, mg_s16 *row);
void mg_depthwise_conv2d_s8__avx2(const mg_simd_depthwise_params *p, const mg_s16 *const *rows, int8_t *out);

void mg_depthwise_conv2d_s8__neon_row(const mg_simd_depthwise_params *p, const int8_t *in, mg_s16 *row);
void mg_depthwise_conv2d_s8__neon(const mg_simd_depthwise_params *p, const mg_s16 *const *rows, int8_t *out);

void mg_depthwise_conv2d_s8__neon_bytes_row(const mg_simd_depthwise_params *p, const int8_t *in, int8_t *row);
void mg_depthwise_conv2d_s8__neon_bytes(const mg_simd_depthwise_params *p, const int8_t *const *rows, int8_t *out);

#endif /* MCUGEN_SIMD_DEPTHWISE_H */
