/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution of int8 images with kernels of one column and at most 16 rows, for cores with Helium: every
 * column of every channel is a series of its own, gathered from the whole image.
 *
 *   sum = sum over taps of w * x
 *   y[c] = clamp(requantize(bias[c] + sum, mult[c], shift[c]) + out_zero_point)
 *
 * stream  of each channel: int32 bias (the zero point folded in), mult, shift (0 or less: to the right), int8 weights
 *         [16], zero beyond kernel_h
 * MG_FINISH 0 clamps to all of int8 and has -128 as its zero point, 1 clamps to all of int8, 2 to out_min and out_max,
 * 3 and 4 as 1 and 2, rounded once, 5 as 2, mult being a float32 that scales the sums;
 * MG_STRIDE: rows from output to output, at most 16
 * sums    cannot leave 32 bits: proved when the code is generated
 * Equals the reference runtime's DepthwiseConv2D for int8 data.
 */
#ifndef MCUGEN_DEPTHWISE_CONV2D_S8__MVE_COLUMNS_H
#define MCUGEN_DEPTHWISE_CONV2D_S8__MVE_COLUMNS_H

#include "mcugen/little_endian.h"
#include "mcugen/mve.h"
#include "mcugen/variant.h"

typedef struct {
    const int8_t *stream;
    uint32_t row_c;
    int16_t out_zero_point, out_min, out_max, in_zero_point;
    uint32_t in_h, out_h, channels, above, length;
} mg_depthwise_conv2d_s8__mve_columns_params;

/* State of the loop: the next series and its outputs, bytes of 8 rows, where a series' own elements and its first
 * window begin; blocks of 8 elements and of 8 outputs, what their last ones repeat, series to come. */
typedef struct {
    const int8_t *in;
    int8_t *out;
    uint32_t eight;
    int8_t *elements;
    uint32_t in_blocks, in_repeated;
    const int8_t *first;
    uint32_t out_blocks, out_repeated, left, row_c;
} mg_columns_state;

/* A whole image of at least 8 rows that makes at least 8. row_c: columns * channels. above: rows above the image.
 * scratch: length elements, a padded series. */
#define MG_DECLARE_depthwise_conv2d_s8__mve_columns(f) \
    MG_LINKAGE void f(const mg_depthwise_conv2d_s8__mve_columns_params *p, const int8_t *in, int8_t *out, int8_t *scratch)

#endif /* MCUGEN_DEPTHWISE_CONV2D_S8__MVE_COLUMNS_H */
