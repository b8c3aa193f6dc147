/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution along the rows of int8 images one pixel wide (signals in time), on cores with SMLAD. The ring
 * is transposed: a channel's values of all rows are contiguous.
 *
 *   y[c] = clamp(((sum * mult[c]) / 2^32 rounded + addend[c]) / 2^n[c]), sum = 2 * (bias[c] + sum over rows of w * x)
 *
 * ring     int16 [channel][slot], with an even number of slots: the stored values; rows outside the image are the
 *          input's zero point
 * weights  per channel, doubled, two to a word: the sequence w0 .. w(h-1), w0 .. w(h-2), then this sequence from w1 on.
 *          So h weights in the order of the slots begin at a word, wherever kernel row 0 lies in the ring
 * finish   per channel: initial sum, multiplier, addend, shift n
 * Equals mg_depthwise_conv2d_s8 if dsp_requantize.h equals mg_requantize: proved when the code is generated.
 */
#ifndef MCUGEN_DEPTHWISE_CONV2D_S8__COLUMN_H
#define MCUGEN_DEPTHWISE_CONV2D_S8__COLUMN_H

#include "mcugen/little_endian.h"
#include "mcugen/dsp_requantize.h"
#include "mcugen/variant.h"

typedef struct {
    const int32_t *weights;
    const int32_t *finish;
    int16_t in_zero_point, out_min, out_max;
} mg_depthwise_conv2d_s8__column_params;

/* f_row: stores an input row in its slot of the ring. in: NULL for a row outside the image.
 * f: computes one output row. rows: the slots of kernel rows 0 .. h - 1; they are contiguous in memory, except where
 * the ring wraps. */
#define MG_DECLARE_depthwise_conv2d_s8__column(f)                                                                      \
    MG_LINKAGE void MG_PART(f, row)(const mg_depthwise_conv2d_s8__column_params *p, const int8_t *in, mg_s16 *row);    \
    MG_LINKAGE void f(const mg_depthwise_conv2d_s8__column_params *p, const mg_s16 *const *rows, int8_t *out)

#endif /* MCUGEN_DEPTHWISE_CONV2D_S8__COLUMN_H */
