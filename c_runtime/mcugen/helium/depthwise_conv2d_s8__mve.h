/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution of int8 images for cores with Helium: up to 16 taps in one product.
 *
 *   sum = sum over taps of w * x
 *   y[c] = clamp(requantize(bias[c] + sum, mult[c], shift[c]) + out_zero_point)
 *
 * row      int8 [left padding, columns, right padding][channels], row_bytes in all, a multiple of 16
 *          Groups of four rows are interleaved into words: [column][channel][4 rows]. A window has kernel_w words of
 *          each of up to 4 groups, at most 4 words in all: word w is column w % kernel_w of kernel rows 4 * (w /
 *          kernel_w) and on
 * stream   blocks of 8 channels: int8 weights [8][4 words][4 rows], zero if there is no tap; then int32 bias (the
 *          input's zero point is folded in), mult and shift (0 or less: to the right), each of channels 0 2 4 6, then 1
 *          3 5 7
 *          If the number of channels is not a multiple of 8, the last block ends with the last channel and repeats some
 *          of the block before; fewer than 8 channels are padded to 8
 * sums     cannot leave 32 bits: proved when the code is generated
 *
 *   __mve         clamps to all of int8; the zero point is -128, so that no negative result is rounded
 *   __mve_linear  clamps to all of int8; all shifts are below 0
 *   __mve_clamp   clamps to out_min, out_max; all shifts are below 0
 *   __mve_once, __mve_once_clamp  like __mve_linear and __mve_clamp, but rounded once: the high word is rounded down
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

/* Stores an input row of in_bytes with its padding. in: NULL for a row outside the image. */
void mg_depthwise_conv2d_s8__mve_row(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *in, int8_t *row);
void mg_depthwise_conv2d_s8__mve_linear_row(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *in, int8_t *row);
void mg_depthwise_conv2d_s8__mve_clamp_row(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *in, int8_t *row);
void mg_depthwise_conv2d_s8__mve_once_row(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *in, int8_t *row);
void mg_depthwise_conv2d_s8__mve_once_clamp_row(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *in, int8_t *row);
void mg_depthwise_conv2d_s8__mve_float_row(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *in, int8_t *row);

/* Computes an output row. step_bytes: bytes from a window to the next in a group of interleaved rows. word_0 and on:
 * byte offsets of the words of the first window. scratch: groups * 4 * row_bytes bytes, then the words of 3 pixels of
 * at least 8 channels. slice: not used. */
void mg_depthwise_conv2d_s8__mve(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *const *rows, int8_t *out, int8_t *scratch);
void mg_depthwise_conv2d_s8__mve_linear(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *const *rows, int8_t *out, int8_t *scratch);
void mg_depthwise_conv2d_s8__mve_clamp(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *const *rows, int8_t *out, int8_t *scratch);
void mg_depthwise_conv2d_s8__mve_once(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *const *rows, int8_t *out, int8_t *scratch);
void mg_depthwise_conv2d_s8__mve_once_clamp(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *const *rows, int8_t *out, int8_t *scratch);
void mg_depthwise_conv2d_s8__mve_float(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *const *rows, int8_t *out, int8_t *scratch);

/* Kernel for rows of many pixels: it computes 8 pixels of a channel at a time. kernel_h is at most 4, kernel_w at most
 * 4, or 3 with a stride of 1.
 * MG_CHANNELS   channels; MG_WIDTH: outputs of a row; MG_STRIDE: 1 or 2
 * MG_FINISH     0: clamps to all of int8, the zero point is -128;  1: clamps to all of int8;  2: clamps to out_min,
 *               out_max;  3, 4: like 1 and 2, rounded once;  5: like 2, mult is a float32 that scales the sums
 * stream        per channel: int32 bias, mult, shift, int8 weights [4 words][4 rows]; with a stride of 1 the weights
 *               again, one word later
 * scratch       as above */
#define MG_DECLARE_depthwise_conv2d_s8__mve_wide(f) \
    MG_LINKAGE void MG_PART(f, row)(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *in, int8_t *row); \
    MG_LINKAGE void f(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *const *rows, int8_t *out, int8_t *scratch)

/* Kernel for little memory: `slice` channels at a time, a multiple of 16, are interleaved from the input's rows. If the
 * channels are not a whole number of slices, the last two slices overlap.
 * MG_FINISH   as for __mve_wide
 * rows        NULL for rows outside the image
 * slice       16; more if the image is one pixel wide
 * stream      the blocks of each slice, as above
 * row_bytes, step_bytes, word_0 and on count the bytes of a slice; in_bytes and left_bytes count all channels
 * scratch     groups * 4 * row_bytes, then 16 bytes
 *
 * mg_sliced_rows: starts of four rows, and for each row the bytes from a pixel to the next. */
typedef struct {
    const int8_t *start[4];
    uint32_t step[4];
} mg_sliced_rows;
#define MG_DECLARE_depthwise_conv2d_s8__mve_slices(f) \
    MG_LINKAGE void f(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, int8_t *scratch)

#endif /* MCUGEN_DEPTHWISE_CONV2D_S8__MVE_H */
