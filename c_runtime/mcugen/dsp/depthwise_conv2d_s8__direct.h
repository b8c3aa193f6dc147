/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution of int8 images on cores with SMLAD, directly on the int8 rows: no ring, no scratch.
 *
 *   y[c] = clamp(((sum * mult[c]) / 2^32 rounded + addend[c]) / 2^n[c]), sum = 2 * (bias[c] + sum over taps of w * x)
 *
 * Four adjacent channels are computed together: a word of data becomes two pairs of int16, and a multiplication takes
 * one half of a pair. Two adjacent output columns share data and weights. Other columns are computed one by one,
 * without their taps outside the image.
 *
 * stream   per group of four channels:
 *          4 initial sums that include the input's zero point
 *          4 initial sums that do not
 *          2 words per tap, doubled weights: channels 0 and 2, channels 1 and 3
 *          per channel: multiplier, addend and, unless MG_LINEAR is 3 or 4, shift n
 * If the number of channels is not a multiple of four, the last two groups overlap.
 * Equals mg_depthwise_conv2d_s8 if dsp_requantize.h equals mg_requantize: proved when the code is generated.
 */
#ifndef MCUGEN_DEPTHWISE_CONV2D_S8__DIRECT_H
#define MCUGEN_DEPTHWISE_CONV2D_S8__DIRECT_H

#include "mcugen/dsp_clamp.h"
#include "mcugen/dsp_requantize.h"
#include "mcugen/little_endian.h"
#include "mcugen/variant.h"

/* group: words of the stream per group of four channels. first: first output column that is computed in a pair. pairs:
 * number of pairs of columns. */
typedef struct {
    const int32_t *stream;
    uint16_t channels, height, width, in_w, outputs, stride, pad, first, pairs, group;
    int16_t in_zero_point, out_min, out_max;
} mg_depthwise_conv2d_s8__direct_params;

/* Work of one call: output columns of the groups of channels whose stream lies from `stream` to `end`.
 * out        output of the first channel
 * offset     bytes from the start of an input row to the first tap
 * zero       minus the zero point, in both halves
 * rows       pointers to the input rows, up to rows_end
 * One column:
 * taps       taps of each kernel row that are inside the image
 * before     bytes of a kernel row's weights before these taps
 * skip       bytes of a kernel row's weights that are not used, before and after these taps
 * Pairs of columns:
 * pairs      number of pairs
 * row_step   bytes from the end of a pair's data to the data of the next pair
 * out_step   bytes from the end of a pair's outputs to the outputs of the next pair
 * flags      flags of the first pair: 1: it reads the column left of the image; 2: the column right of it
 * last       flags of the last pair
 * outside    four bytes of the zero point, used for columns outside the image */
typedef struct {
    int8_t *out;
    const int32_t *end, *stream;
    uint32_t offset, zero;
    const int8_t *const *rows, *const *rows_end;
    uint32_t taps, before, skip;
    uint32_t pairs, row_step, out_step, flags, last, outside;
} mg_direct_job;

/* Computes one output row. rows: the kernel's input rows; rows outside the image are filled with in_zero_point. */
#define MG_DECLARE_depthwise_conv2d_s8__direct(f)                                                                         \
    MG_LINKAGE void f(const mg_depthwise_conv2d_s8__direct_params *p, const int8_t *const *rows, uint32_t y, int8_t *out)

#endif /* MCUGEN_DEPTHWISE_CONV2D_S8__DIRECT_H */
