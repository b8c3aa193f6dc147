/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution of int8 images on cores with SMLAD: rows are kept as int16, channel by channel, so that the
 * taps of a kernel row are neighbours.
 *
 *   y[c] = clamp(((sum * mult[c]) / 2^32 rounded + addend[c]) / 2^n[c]), sum = 2 * (bias[c] + sum over taps of w * x)
 *
 * ring    [channel][slot][column] int16: the stored values; outside the image, the input's zero point
 * weights per channel the kernel rows 0 .. h - 1, 0 .. h - 2, so that h of them follow in the order of the slots
 *         wherever row 0 stands; of slices 0 .. h - 1, as row 0 always stands first. Of a row pairs of taps (0, 1),
 *         (1, 2) ... or, where the stride is even, (0, 1), (2, 3) ..., the first in the low half; doubled
 *         of planar_each: a word for each kernel row, 0 .. h - 1, with its taps 0, 2, 1, 3 in the bytes
 * finish  per channel: initial sum, multiplier, addend, shift n
 * Equals mg_depthwise_conv2d_s8 where dsp_requantize.h equals mg_requantize: proved when the code is generated.
 */
#ifndef MCUGEN_PLANAR_S8_H
#define MCUGEN_PLANAR_S8_H

#include "mcugen/little_endian.h"
#include "mcugen/dsp_requantize.h"
#include "mcugen/variant.h"

/* columns: columns of a converted row, an even number; `pad` of them lie before the image and `seen` in it.
 * outputs: outputs per row. step: elements from a channel's row to the next channel's.
 * clamps: whether the clamp is narrower than int8. slice: channels whose rows are converted together. stride: columns
 * from an output to the next. */
typedef struct {
    const int32_t *weights;
    const int32_t *finish;
    uint16_t channels, slice, columns, step, pad, seen, outputs;
    int16_t in_zero_point, out_min, out_max;
    uint8_t clamps, stride;
} mg_planar_s8_params;

/* Converts `slice` channels of a row of pixels, or of one outside the image (NULL), to planar int16: the first
 * channel's goes to `row`. */
MG_LINKAGE void mg_planar_s8_row(const mg_planar_s8_params *p, const int8_t *in, mg_s16 *row);

/* Clamps n outputs to the range of the activation. */
MG_LINKAGE void mg_planar_s8_clamp(const mg_planar_s8_params *p, int8_t *out, uint32_t n);

/* The kernel row that comes first in memory. */
static inline uint32_t mg_planar_s8_first(const mg_s16 *const *rows, uint32_t h)
{
    uint32_t first = 0u;
    for (uint32_t k = 1u; k < h; k += 1u) {
        first = rows[k] < rows[k - 1u] ? k : first;
    }
    return first;
}

/* _row: stores an input row, or one outside the image, in its slot.  The kernel: one output row. rows: h slots in the
 * order of the kernel's rows, which is that of memory, rotated. */
#define MG_DECLARE_depthwise_conv2d_s8__planar(f)                                                    \
    MG_LINKAGE void MG_PART(f, row)(const mg_planar_s8_params *p, const int8_t *in, mg_s16 *row);    \
    MG_LINKAGE void f(const mg_planar_s8_params *p, const mg_s16 *const *rows, int8_t *out)

#define MG_DECLARE_depthwise_conv2d_s8__planar_blocks(f) MG_DECLARE_depthwise_conv2d_s8__planar(f)

#define MG_DECLARE_depthwise_conv2d_s8__planar_each(f) MG_DECLARE_depthwise_conv2d_s8__planar(f)

/* Computes a whole image that is one pixel wide (a signal in time), as one row with as many columns as the image has
 * rows; the filter has one row. scratch: int16 [channel][row], with the padding. */
#define MG_DECLARE_depthwise_conv2d_s8__line(f) \
    MG_LINKAGE void f(const mg_planar_s8_params *p, const int8_t *in, int8_t *out, void *scratch)

/* Variants with little memory: a slice of the channels at a time. If the slice size does not divide the channels, the
 * last two slices overlap. There are more channels than a slice has, and a slice has a multiple of four.
 * planar_slices: one output row. rows: h input rows, NULL outside the image. scratch: int16 [slice][h][column].
 * line_slices: a whole signal. scratch: int16 [slice][row]. */
#define MG_DECLARE_depthwise_conv2d_s8__planar_slices(f) \
    MG_LINKAGE void f(const mg_planar_s8_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, void *scratch)
#define MG_DECLARE_depthwise_conv2d_s8__line_slices(f) MG_DECLARE_depthwise_conv2d_s8__line(f)

/* The first channel of the slice that begins at channel c, or ends with the last channel. */
static inline uint32_t mg_planar_s8_from(const mg_planar_s8_params *p, uint32_t c)
{
    return c + p->slice <= p->channels ? c : (uint32_t)p->channels - p->slice;
}

#endif /* MCUGEN_PLANAR_S8_H */
