/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of int8 images with 3x3 windows on cores with SMLAD, by Winograd's F(4, 3) along the rows: four output
 * columns take six products per row of the window instead of twelve. It is exact in integers.
 *
 *   y[o] = clamp(requantize(bias[o] + sum over taps and channels of w[o] * x, mult[o], shift[o]) + out_zero_point)
 *
 * d0 to d5 are six columns of x + 128 from the first tap of a tile (four output columns) on, w0 to w2 a row of the
 * window:
 *
 *   v0 = 4 d0 - 5 d2 + d4            u0 = 6 w0                    y0 = m0 + m1 + m2 + m3 + m4
 *   v1 = -4 d1 - 4 d2 + d3 + d4      u1 = -4 (w0 + w1 + w2)       y1 = m1 - m2 + 2 m3 - 2 m4
 *   v2 = 4 d1 - 4 d2 - d3 + d4       u2 = -4 (w0 - w1 + w2)       y2 = m1 + m2 + 4 m3 + 4 m4
 *   v3 = -2 d1 - d2 + 2 d3 + d4      u3 = w0 + 2 w1 + 4 w2        y3 = m1 - m2 + 8 m3 - 8 m4 + m5
 *   v4 = 2 d1 - d2 - 2 d3 + d4       u4 = w0 - 2 w1 + 4 w2
 *   v5 = 4 d1 - 5 d3 + d5            u5 = 24 w2                   m = sum over rows and channels of u * v
 *
 * y0 to y3 are 24 times the sums, modulo 2^32. A product with the inverse of 3 makes them 8 times the sums, in 32 bits.
 * |v| <= 2040, |u| <= 3072: both fit 16 bits for all int8 data and weights.
 *
 * x            int8 [rows of in_w * 4 MG_QUADS]
 * row          int16 [6][MG_TILES][4 MG_QUADS]: v + 2048, each group of four channels in the order 0, 2, 1, 3; columns
 *              outside the image have the value `outside`. The last tile ends with the output row and may overlap the
 *              one before
 * stream       per pair of output channels (a, b):
 *              for each of m0 to m5: initial sums of a and b, then u, [window row][group of four input channels] in
 *              four words: a and b of the group's first two channels, a and b of the last two, in the order of v
 *              mult a, mult b, addend a, addend b, shift a, shift b, see dsp_requantize.h
 *              An initial sum is -2048 times the sum of u, which cancels the 2048 in v. That of m1 includes 24 times
 *              the bias, which enters all four outputs
 * words        words of the stream
 * pad          columns of padding on the left
 * triples_end  tiles that are computed three at a time; the rest is computed in pairs
 * low, high    the clamp; clamps: 1 if it is narrower than int8
 * No sum reaches 2^28: proved when the code is generated. Equals the reference runtime's Conv2D for int8 data.
 */
#ifndef MCUGEN_DSP_WINOGRAD_H
#define MCUGEN_DSP_WINOGRAD_H

#include "mcugen/little_endian.h"
#include "mcugen/variant.h"

typedef struct {
    const int32_t *stream;
    uint32_t words;
    uint16_t in_w, pad, out_w, out_c, triples_end;
    int16_t outside, low, high;
    uint8_t clamps;
} mg_dsp_winograd_params;

#define MG_DECLARE_conv2d_s8__winograd(f)                                                            \
    MG_LINKAGE void MG_PART(f, row)(const mg_dsp_winograd_params *p, const int8_t *in, mg_s16 *row); \
    MG_LINKAGE void f(const mg_dsp_winograd_params *p, const mg_s16 *const *rows, int8_t *out)

#endif /* MCUGEN_DSP_WINOGRAD_H */
