/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution of a whole int8 image with kernels of at most 3x3, for cores with Helium: two output rows at a
 * time, so that a vector of 4x4 elements serves 2x2 outputs.
 *
 *   sum = sum over taps of w * x
 *   y[c] = clamp(requantize(bias[c] + sum, mult[c], shift[c]) + out_zero_point)
 *
 * Four rows are interleaved into words, [column][channel][4 rows]: those of the windows of both output rows. With a
 * stride of 2 each output row has words of its own. Channels are taken in slices of MG_SLICE.
 *
 * stream  of each channel of each slice: int32 bias (the zero point folded in), mult, shift (0 or less: to the right),
 *         int8 weights [5 words][4 rows]: three columns between words of zeros
 * places  uint32 offsets of four words, and of the four outputs of what is left of a row, then uint16 offsets of the
 *         eight outputs of a block, as bytes
 * columns  those of the input that are read; above, left: rows and columns outside the image
 *
 * A copy for MG_CHANNELS, MG_SLICE, MG_WIDTH outputs of a row, at least 4, MG_STRIDE 1 or 2, and MG_FINISH: 0 clamps to
 * all of int8 and has -128 as its zero point, 1 clamps to all of int8, 2 to out_min and out_max, 3 and 4 as 1 and 2,
 * rounded once, 5 as 2, mult being a float32 that scales the sums.
 * sums    cannot leave 32 bits: proved when the code is generated
 * Equals the reference runtime's DepthwiseConv2D for int8 data.
 */
#ifndef MCUGEN_DEPTHWISE_CONV2D_S8__MVE_SQUARES_H
#define MCUGEN_DEPTHWISE_CONV2D_S8__MVE_SQUARES_H

#include "mcugen/little_endian.h"
#include "mcugen/mve.h"
#include "mcugen/variant.h"

typedef struct {
    const int8_t *stream, *places;
    int16_t out_zero_point, out_min, out_max, in_zero_point;
    uint32_t in_h, in_row, out_h, columns, above, left, kept;
} mg_depthwise_conv2d_s8__mve_squares_params;

/* out may be in. scratch: the words of (MG_WIDTH - 1) * MG_STRIDE + 4 columns of a slice, for each output row that has its
 * own; a row outside the image, columns * MG_CHANNELS; kept bytes for a row of the input that two pairs of output rows
 * need, 0 if there is none, twice if there are several slices; and two output rows if their number is odd. */
#define MG_DECLARE_depthwise_conv2d_s8__mve_squares(f) \
    MG_LINKAGE void f(const mg_depthwise_conv2d_s8__mve_squares_params *p, const int8_t *in, int8_t *out, int8_t *scratch)

#endif /* MCUGEN_DEPTHWISE_CONV2D_S8__MVE_SQUARES_H */
