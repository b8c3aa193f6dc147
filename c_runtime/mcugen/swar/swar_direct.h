/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of int8 images with int8 weights, for cores that have no SIMD: two channels per multiplication, and rows
 * read as they are, without memory of its own.
 *
 *   sum = sum over taps and channels of w[o] * x
 *   y[o] = clamp(requantize(bias[o] + sum, mult[o], shift[o]) + out_zero_point)
 *
 * x        int8 [rows of in_w * in_c]; stored values, the zero point is folded into the bias
 * stream   weights in words of two channels, in groups whose sums fit 16 bits, with all other constants, in the order in
 *          which they are read
 * runs     of a kernel row: each of `run` neighbouring taps, `apart` elements from one to the next; no group reads two
 * outside  the value beyond the image
 * patches  how many columns' taps the results of the columns [inside_first, inside_end) have room for, 2 at most; 0: they go
 *          to the scratch
 * sums     below 2^23, shifts to the right: proved when the code is generated
 * Equals the reference runtime's Conv2D for int8 data, with double or single rounding.
 */
#ifndef MCUGEN_SWAR_DIRECT_H
#define MCUGEN_SWAR_DIRECT_H

#include "mcugen/filter.h"

#define MG_SWAR_RUNS 16u

/* pairs: number of channel pairs. taps: taps per channel. kernel_h * runs is at most MG_SWAR_RUNS. */
typedef struct {
    const uint32_t *stream;
    uint32_t pairs, taps, outputs, run, runs, apart;
    int32_t out_min;
    uint32_t out_span;
    MG_WINDOW_FIELDS
    uint8_t patches;
    int8_t outside;
} mg_swar_direct_params;

/* One output row. rows: kernel_h input rows, those outside the image filled with the input's zero point.
 * out: out_w * out_c. scratch: 2 * taps bytes, for columns that read beyond the row, unless there are patches. */
void mg_conv2d_s8__swar_direct(const mg_swar_direct_params *p, const int8_t *const *rows, uint32_t y, int8_t *out,
                               int8_t *scratch);

/* n pixels of a 1x1 convolution with stride 1. in: n * taps, out: n * outputs. */
void mg_conv2d_s8__swar_direct_pointwise(const mg_swar_direct_params *p, const int8_t *in, int8_t *out, uint32_t n);

#endif /* MCUGEN_SWAR_DIRECT_H */
