/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution of a whole int8 image with kernels of at most 3x3, for cores with Helium: two output rows at a
 * time, so that a vector of 4x4 elements serves 2x2 outputs.
 *
 *   sum = sum over taps of w * x
 *   y[c] = clamp(requantize(bias[c] + sum, mult[c], shift[c]) + out_zero_point)
 *
 * Four input rows, those of the windows of both output rows, are interleaved into words: [column][channel][4 rows].
 * With a stride of 2, each output row has its own words. The channels are computed in slices of MG_SLICE.
 *
 * stream      per channel of each slice: int32 bias (the input's zero point is folded in), mult, shift (0 or less: to
 *             the right), int8 weights [5 words][4 rows]: the three kernel columns between two words of zeros
 * places      byte offsets, in this order: uint32 [4]: words of a window; uint32 [4]: outputs in the rest of two rows;
 *             uint16 [8]: outputs of a block
 * columns     input columns that are read
 * above, left  rows and columns of padding
 * reused      bytes of an input row that is saved, see scratch
 * sums        cannot leave 32 bits: proved when the code is generated
 *
 * Sizes:
 * MG_CHANNELS  channels; MG_WIDTH: outputs of a row, at least 4; MG_STRIDE: 1 or 2
 * MG_FINISH    0: clamps to all of int8, the zero point is -128;  1: clamps to all of int8;  2: clamps to out_min,
 *              out_max;  3, 4: like 1 and 2, rounded once;  5: like 2, mult is a float32 that scales the sums
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
    uint32_t in_h, in_row, out_h, columns, above, left, reused;
} mg_depthwise_conv2d_s8__mve_squares_params;

/* `out` may be equal to `in`. scratch, in this order:
 * words of (MG_WIDTH - 1) * MG_STRIDE + 4 columns of a slice; with a stride of 2 twice, for each of the two output rows
 * a row outside the image, columns * MG_CHANNELS
 * input rows that are saved because the next two output rows need them too, `reused` bytes each: two if there are
 * several slices, else one
 * two output rows, if the number of output rows is odd */
#define MG_DECLARE_depthwise_conv2d_s8__mve_squares(f) \
    MG_LINKAGE void f(const mg_depthwise_conv2d_s8__mve_squares_params *p, const int8_t *in, int8_t *out, int8_t *scratch)

#endif /* MCUGEN_DEPTHWISE_CONV2D_S8__MVE_SQUARES_H */
