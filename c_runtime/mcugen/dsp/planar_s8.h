/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution of int8 images on cores with SMLAD: the ring's rows are int16, channel by channel, so that the
 * taps of a kernel row are contiguous.
 *
 *   y[c] = clamp(((sum * mult[c]) / 2^32 rounded + addend[c]) / 2^n[c]), sum = 2 * (bias[c] + sum over taps of w * x)
 *
 * ring     int16 [channel][slot][column]: the stored values; outside the image, the input's zero point
 * weights  [channel][kernel row][pair of taps], doubled, the first tap in the low half of a word
 *          kernel rows: 0 .. h - 1, 0 .. h - 2, so that h rows in the order of the slots are contiguous wherever row 0
 *          lies in the ring; _slices: 0 .. h - 1, as row 0 is always first
 *          pairs: (0, 1), (1, 2) ...; if the stride is even, (0, 1), (2, 3) ...
 *          planar_each: [channel][kernel row 0 .. h - 1], a word with the taps 0, 2, 1, 3 in its bytes
 * finish   per channel: initial sum, multiplier, addend, shift n
 * Equals mg_depthwise_conv2d_s8 if dsp_requantize.h equals mg_requantize: proved when the code is generated.
 */
#ifndef MCUGEN_PLANAR_S8_H
#define MCUGEN_PLANAR_S8_H

#include "mcugen/little_endian.h"
#include "mcugen/dsp_requantize.h"
#include "mcugen/variant.h"

/* columns  columns of a converted row, an even number: `pad` before the image, in_w of the image, the rest behind it
 * outputs  outputs of a row
 * stride   columns from an output to the next
 * step     elements from a channel's row to the next channel's
 * slice    channels whose rows are converted together
 * clamps   1 if the clamp is narrower than int8 */
typedef struct {
    const int32_t *weights;
    const int32_t *finish;
    uint16_t channels, slice, columns, step, pad, in_w, outputs;
    int16_t in_zero_point, out_min, out_max;
    uint8_t clamps, stride;
} mg_planar_s8_params;

/* Converts `slice` channels of a row of pixels to planar int16. in: NULL for a row outside the image. row: destination
 * of the first channel's row. */
MG_LINKAGE void mg_planar_s8_row(const mg_planar_s8_params *p, const int8_t *in, mg_s16 *row);

/* Clamps n outputs to the range of the activation. */
MG_LINKAGE void mg_planar_s8_clamp(const mg_planar_s8_params *p, int8_t *out, uint32_t n);

/* Index of the kernel row that is first in memory. */
static inline uint32_t mg_planar_s8_first(const mg_s16 *const *rows, uint32_t h)
{
    uint32_t first = 0u;
    for (uint32_t k = 1u; k < h; k += 1u) {
        first = rows[k] < rows[k - 1u] ? k : first;
    }
    return first;
}

/* f_row: stores an input row in its slot of the ring. in: NULL for a row outside the image.
 * f: computes one output row. rows: the slots of kernel rows 0 .. h - 1; they are contiguous in memory, except where
 * the ring wraps. */
#define MG_DECLARE_depthwise_conv2d_s8__planar(f)                                                    \
    MG_LINKAGE void MG_PART(f, row)(const mg_planar_s8_params *p, const int8_t *in, mg_s16 *row);    \
    MG_LINKAGE void f(const mg_planar_s8_params *p, const mg_s16 *const *rows, int8_t *out)

#define MG_DECLARE_depthwise_conv2d_s8__planar_blocks(f) MG_DECLARE_depthwise_conv2d_s8__planar(f)

#define MG_DECLARE_depthwise_conv2d_s8__planar_each(f) MG_DECLARE_depthwise_conv2d_s8__planar(f)

/* Computes a whole image that is one pixel wide (a signal in time) as one row: its rows become columns. The filter has
 * one row. scratch: int16 [channel][row], with the padding. */
#define MG_DECLARE_depthwise_conv2d_s8__line(f) \
    MG_LINKAGE void f(const mg_planar_s8_params *p, const int8_t *in, int8_t *out, void *scratch)

/* Variants that need less memory: they compute a slice of the channels at a time. A slice has a multiple of four
 * channels, fewer than the layer. If the number of channels is no multiple of the slice, the last two slices overlap.
 * planar_slices: one output row. rows: h input rows, NULL outside the image. scratch: int16 [slice][h][column].
 * line_slices: a whole signal. scratch: int16 [slice][row]. */
#define MG_DECLARE_depthwise_conv2d_s8__planar_slices(f) \
    MG_LINKAGE void f(const mg_planar_s8_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, void *scratch)
#define MG_DECLARE_depthwise_conv2d_s8__line_slices(f) MG_DECLARE_depthwise_conv2d_s8__line(f)

/* First channel of the slice that begins at channel c, or before c if the slice would exceed the last channel. */
static inline uint32_t mg_planar_s8_from(const mg_planar_s8_params *p, uint32_t c)
{
    return c + p->slice <= p->channels ? c : (uint32_t)p->channels - p->slice;
}

#endif /* MCUGEN_PLANAR_S8_H */
