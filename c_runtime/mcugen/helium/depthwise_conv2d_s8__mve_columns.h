/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution of int8 images with kernels of one column and at most 16 rows, for cores with Helium. Each
 * column of each channel is a series, which is gathered from the whole image.
 *
 *   sum = sum over taps of w * x
 *   y[c] = clamp(requantize(bias[c] + sum, mult[c], shift[c]) + out_zero_point)
 *
 * stream     per channel: int32 bias (the input's zero point is folded in), mult, shift (0 or less: to the right), int8
 *            weights [16], zero behind kernel_h
 * sums       cannot leave 32 bits: proved when the code is generated
 * MG_FINISH  0: clamps to all of int8, the zero point is -128;  1: clamps to all of int8;  2: clamps to out_min,
 *            out_max;  3, 4: like 1 and 2, rounded once;  5: like 2, mult is a float32 that scales the sums
 * MG_STRIDE  rows from an output to the next, at most 16
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

/* State of the loop over the series of an image column.
 * in, out        the next series and its outputs
 * eight          bytes of 8 image rows
 * elements       destination of the elements of a series; first: the first window, which may begin in padding
 * in_blocks      blocks of 8 elements; in_repeated: elements that the last block repeats
 * out_blocks     blocks of 8 outputs; out_repeated: outputs that the last block repeats
 * left           series left */
typedef struct {
    const int8_t *in;
    int8_t *out;
    uint32_t eight;
    int8_t *elements;
    uint32_t in_blocks, in_repeated;
    const int8_t *first;
    uint32_t out_blocks, out_repeated, left, row_c;
} mg_columns_state;

/* Computes a whole image of at least 8 rows and 8 output rows. row_c: columns * channels. above: rows of padding above
 * the image. scratch: `length` elements, a padded series. */
#define MG_DECLARE_depthwise_conv2d_s8__mve_columns(f) \
    MG_LINKAGE void f(const mg_depthwise_conv2d_s8__mve_columns_params *p, const int8_t *in, int8_t *out, int8_t *scratch)

#endif /* MCUGEN_DEPTHWISE_CONV2D_S8__MVE_COLUMNS_H */
