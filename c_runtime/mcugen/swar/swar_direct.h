/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of int8 images with int8 weights for cores without SIMD: a multiplication serves two channels. Taps are
 * read from the input's rows in place.
 *
 *   sum = sum over taps and channels of w[o] * x
 *   y[o] = clamp(requantize(bias[o] + sum, mult[o], shift[o]) + out_zero_point)
 *
 * x        int8 [rows of in_w * in_c]: stored values; their zero point is folded into the bias
 * stream   weights in words of two channels, in groups whose sums fit 16 bits, and all other constants, in the order in
 *          which they are read
 * runs     runs (contiguous taps) of a kernel row: run_length taps each, run_stride elements from one to the next; a
 *          group lies in one run
 * outside  the value of taps outside the image
 * patches  number of columns, at most 2, whose taps fit in the memory of the outputs of columns [inside_first,
 *          inside_end); 0: taps are collected in scratch
 * sums     are below 2^23, shifts are to the right: proved when the code is generated
 * Equals the reference runtime's Conv2D for int8 data, with double or single rounding.
 */
#ifndef MCUGEN_SWAR_DIRECT_H
#define MCUGEN_SWAR_DIRECT_H

#include "mcugen/filter.h"

#define MG_SWAR_RUNS 16u

/* pairs: number of pairs of channels. taps: number of taps of a channel. kernel_h * runs is at most MG_SWAR_RUNS. */
typedef struct {
    const uint32_t *stream;
    uint32_t pairs, taps, outputs, run_length, runs, run_stride;
    int32_t out_min;
    uint32_t out_span;
    MG_WINDOW_FIELDS
    uint8_t patches;
    int8_t outside;
} mg_swar_direct_params;

/* Computes one output row. rows: kernel_h input rows; rows outside the image are filled with the input's zero point.
 * out: out_w * out_c. scratch: 2 * taps bytes for columns that read outside the image; not used if there are patches.
 */
void mg_conv2d_s8__swar_direct(const mg_swar_direct_params *p, const int8_t *const *rows, uint32_t y, int8_t *out,
                               int8_t *scratch);

/* Computes n pixels of a 1x1 convolution with stride 1. in: n * taps, out: n * outputs. */
void mg_conv2d_s8__swar_direct_pointwise(const mg_swar_direct_params *p, const int8_t *in, int8_t *out, uint32_t n);

#endif /* MCUGEN_SWAR_DIRECT_H */
