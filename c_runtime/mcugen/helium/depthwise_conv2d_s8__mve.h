/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of each channel of int8 images by itself, for cores with Helium: up to 16 taps in one product.
 *
 *   sum = sum over taps of w * x
 *   y[c] = clamp(requantize(bias[c] + sum, mult[c], shift[c]) + out_zero_point)
 *
 * row     int8 [left padding, columns, right padding][channels], row_bytes in all, a multiple of 16
 * Four rows are interleaved into words, [column][channel][4 rows]. A window is kernel_w words of each of up to 4 such
 * groups, at most 4 words in all: word w is column w % kernel_w of kernel rows 4 * (w / kernel_w) and on.
 * stream  blocks of 8 channels: [8][4 words][4 rows] int8 weights, zero where there is no tap, then int32 bias (the
 *         zero point folded in), mult and shift (0 or less: to the right), each of channels 0 2 4 6 and 1 3 5 7. If the
 *         number of channels is no multiple of 8, the last block repeats some so that it ends with the last one; with
 *         fewer than 8 channels it is padded.
 * sums    cannot leave 32 bits: proved when the code is generated
 *
 *   __mve         clamps to all of int8, and the zero point is the lowest value: no negative result is rounded
 *   __mve_linear  clamps to all of int8; all shifts below 0
 *   __mve_clamp   clamps to out_min, out_max; all shifts below 0
 *   __mve_once, __mve_once_clamp  as the two above, but rounded once: the high word is rounded down
 *   __mve_float   clamps to out_min, out_max; mult is a float32 that scales the sums, shift is not read
 *
 * Equals the reference runtime's DepthwiseConv2D for int8 data.
 */
#ifndef MCUGEN_DEPTHWISE_CONV2D_S8__MVE_H
#define MCUGEN_DEPTHWISE_CONV2D_S8__MVE_H

#include "mcugen/little_endian.h"
#include "mcugen/mve.h"
#include "mcugen/variant.h"

typedef struct {
    const int8_t *stream;
    uint32_t out_w, channels;
    int16_t out_zero_point, out_min, out_max, in_zero_point;
    uint32_t in_bytes, left_bytes, row_bytes;
    uint32_t step_bytes;
    uint32_t word_0, word_1, word_2, word_3;
    uint16_t kernel_h, kernel_w;
    uint32_t slice;
} mg_depthwise_conv2d_s8__mve_params;

/* Stores an input row of in_bytes, or NULL outside the image, with its padding. */
void mg_depthwise_conv2d_s8__mve_row(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *in, int8_t *row);
void mg_depthwise_conv2d_s8__mve_linear_row(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *in, int8_t *row);
void mg_depthwise_conv2d_s8__mve_clamp_row(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *in, int8_t *row);
void mg_depthwise_conv2d_s8__mve_once_row(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *in, int8_t *row);
void mg_depthwise_conv2d_s8__mve_once_clamp_row(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *in, int8_t *row);
void mg_depthwise_conv2d_s8__mve_float_row(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *in, int8_t *row);

/* An output row. step_bytes: from window to window in a group; word_0 and on: offsets of the words of the first window.
 * scratch: groups * 4 * row_bytes, and the words of 3 pixels of at least 8 channels. slice: not used. */
void mg_depthwise_conv2d_s8__mve(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *const *rows, int8_t *out, int8_t *scratch);
void mg_depthwise_conv2d_s8__mve_linear(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *const *rows, int8_t *out, int8_t *scratch);
void mg_depthwise_conv2d_s8__mve_clamp(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *const *rows, int8_t *out, int8_t *scratch);
void mg_depthwise_conv2d_s8__mve_once(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *const *rows, int8_t *out, int8_t *scratch);
void mg_depthwise_conv2d_s8__mve_once_clamp(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *const *rows, int8_t *out, int8_t *scratch);
void mg_depthwise_conv2d_s8__mve_float(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *const *rows, int8_t *out, int8_t *scratch);

/* Rows of many pixels, 8 pixels of a channel at a time: a copy for MG_CHANNELS, MG_WIDTH outputs of a row, MG_STRIDE 1
 * or 2 and MG_FINISH: 0 clamps to all of int8 and has -128 as its zero point, 1 clamps to all of int8, 2 to out_min,
 * out_max; 3 to 5 as below. stream  of each channel: int32 bias, mult, shift, int8 weights [4 words][4 rows]; with a stride of 1 again,
 * a word later scratch as above; kernel_h at most 4, kernel_w at most 4, with a stride of 1 at most 3 */
#define MG_DECLARE_depthwise_conv2d_s8__mve_wide(f) \
    MG_LINKAGE void MG_PART(f, row)(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *in, int8_t *row); \
    MG_LINKAGE void f(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *const *rows, int8_t *out, int8_t *scratch)

/* With little memory: `slice` channels at a time, a multiple of 16, interleaved from the input's rows (NULL outside the
 * image); a copy for MG_FINISH as above, and 3 for what is rounded once and clamped to all of int8, 4 for the same
 * clamped to out_min, out_max, 5 for floats that scale and the same clamp. If the channels are no whole number of slices, the last two overlap.
 * slice   16; more where the image is one pixel wide
 * stream  the blocks of each slice, as above
 * row_bytes, step_bytes, word_0 and on are those of a slice; in_bytes and left_bytes of all channels
 * scratch: groups * 4 * row_bytes, then 16 bytes
 *
 * mg_sliced_rows  where four rows start, and bytes from a pixel of each to the next. */
typedef struct {
    const int8_t *start[4];
    uint32_t step[4];
} mg_sliced_rows;
#define MG_DECLARE_depthwise_conv2d_s8__mve_slices(f) \
    MG_LINKAGE void f(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, int8_t *scratch)

#endif /* MCUGEN_DEPTHWISE_CONV2D_S8__MVE_H */
