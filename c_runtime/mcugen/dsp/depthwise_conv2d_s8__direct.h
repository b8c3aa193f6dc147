/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution of int8 images on cores with SMLAD, on rows as they are: nothing is converted or kept.
 *
 *   y[c] = clamp(((sum * mult[c]) / 2^32 rounded + addend[c]) / 2^n[c]), sum = 2 * (bias[c] + sum over taps of w * x)
 *
 * Four neighbouring channels are computed together: a word of data becomes two pairs of int16, and a product takes a half
 * of each. Two neighbouring output columns share data and weights; at single columns, what lies beyond the image is left
 * out.
 *
 * stream  per group of four channels: initial sums with the input's zero point in them; those without; a pair of words
 *         for each tap, channels 0 and 2, 1 and 3, doubled; multiplier, addend and, but for linear 3 and 4, shift n of
 *         each channel. If the channels are no multiple of four, the last two groups overlap
 * Equals mg_depthwise_conv2d_s8 where dsp_requantize.h equals mg_requantize: proved when the code is generated.
 */
#ifndef MCUGEN_DEPTHWISE_CONV2D_S8__DIRECT_H
#define MCUGEN_DEPTHWISE_CONV2D_S8__DIRECT_H

#include "mcugen/dsp_clamp.h"
#include "mcugen/dsp_requantize.h"
#include "mcugen/little_endian.h"
#include "mcugen/variant.h"

/* group: words of a group in the stream. `pairs` pairs of output columns are computed together, from `first` on. */
typedef struct {
    const int32_t *stream;
    uint16_t channels, height, width, in_w, outputs, stride, pad, first, pairs, group;
    int16_t in_zero_point, out_min, out_max;
} mg_depthwise_conv2d_s8__direct_params;

/* Columns of outputs, for groups of channels whose stream is from `stream` to `end`. `offset`: bytes from the begin of a
 * row to the first tap. zero: minus the zero point in both halves.
 * Of one column: taps of each kernel row that are inside the image; bytes of weights before them, and of those of a row
 * that are left out. Of pairs of columns: how many; bytes to the next pair, in rows and in results, from behind the last
 * group; 1 where the first one reads a column before the image, and 2 where the last one, `last`, reads one behind it, both
 * of which are words of zero points, `outside`. */
typedef struct {
    int8_t *out;
    const int32_t *end, *stream;
    uint32_t offset, zero;
    const int8_t *const *rows, *const *rows_end;
    uint32_t taps, before, skip;
    uint32_t pairs, row_step, out_step, flags, last, outside;
} mg_direct_job;

/* One output row. rows: the kernel's input rows, those outside the image filled with in_zero_point. */
#define MG_DECLARE_depthwise_conv2d_s8__direct(f)                                                                         \
    MG_LINKAGE void f(const mg_depthwise_conv2d_s8__direct_params *p, const int8_t *const *rows, uint32_t y, int8_t *out)

#endif /* MCUGEN_DEPTHWISE_CONV2D_S8__DIRECT_H */
