/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of int8 images with few channels for cores with Helium. The input rows of a window are interleaved as
 * [column][kernel row][channel]: the taps of a pixel are contiguous and need not be gathered.
 *
 *   sum = sum over taps of w[o] * x
 *   y[o] = clamp(requantize(bias[o] + sum, mult[o], shift[o]) + out_zero_point)
 *
 * Four outputs, that is, two pairs, are computed at a time. First, the sums of all pixels of a row are computed, with a
 * pair's weights in registers: int32 [2 outputs][4 pixels] per pair and four pixels. Then the outputs of four pixels
 * are computed together, one pixel to a word: the first outputs of both pairs, then the second ones. The pairs are
 * therefore outputs (0, 2) and (1, 3). If out_c is not a multiple of 4, the last four outputs overlap the four before.
 *
 * stream   per pair: int8 weights [2][MG_STEPS][16], zero if there is no tap. With MG_SPLIT, weights beyond int8 are
 *          sums of two weights; the second weights of a pair follow its first
 * places   byte offsets among the interleaved bytes, for the bytes of a vector of an input row, or of 3 vectors if
 *          MG_CHUNK is 48; then byte offsets of two times 16 outputs in an output row; with MG_SPLIT, then 1 per pair
 *          with second weights
 * finish   per four outputs, in the order of the pairs: int16 shift[4], without the shift by MG_DOWN; int32 bias[4]
 *          (the input's zero point is folded in), mult[4]
 * sums     cannot leave 32 bits, and their high products, shifted right by MG_DOWN, cannot leave 16: proved when the
 *          code is generated. The shift by MG_DOWN rounds down, and a rounding shift by at least 1 follows: together
 *          they round like one shift
 *
 * Sizes:
 * MG_WIDTH     outputs of a row, of MG_OUTPUTS channels
 * MG_STEPS     steps of 16 taps, 1 to 3; MG_TAPS: taps
 * MG_ROWS      kernel rows, of MG_CHANNELS channels
 * MG_PIXEL     bytes from a window to the next in the interleaved rows
 * MG_USED      bytes of an input row that are read, behind MG_LEFT columns of padding; MG_COLUMNS: columns in all
 * MG_CHUNK     bytes of a row that are interleaved at a time
 * MG_SPLIT     1: there are weights beyond int8
 * MG_FINISH    see conv2d_s8__mve.h
 * Equals the reference runtime's Conv2D for int8 data.
 */
#ifndef MCUGEN_CONV2D_S8__MVE_WOVEN_H
#define MCUGEN_CONV2D_S8__MVE_WOVEN_H

#include "mcugen/little_endian.h"
#include "mcugen/mve.h"
#include "mcugen/variant.h"

typedef struct {
    const int8_t *stream;
    const int32_t *finish;
    const uint8_t *places;
    int16_t out_zero_point, out_min, out_max, in_zero_point;
} mg_conv2d_s8__mve_woven_params;

/* rows: NULL for rows outside the image. scratch: 64 bytes per four pixels, then the interleaved rows, with room for
 * reading windows in whole vectors and for a multiple of 4 pixels. */
#define MG_DECLARE_conv2d_s8__mve_woven(f) \
    MG_LINKAGE void f(const mg_conv2d_s8__mve_woven_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, int8_t *scratch)

/* A whole image with short rows: taps are copied once more, so that the outputs of MG_BAND rows form one row of
 * MG_WIDTH outputs, with MG_PIXEL = MG_TAPS.
 * MG_HEIGHT     output rows, of MG_ACROSS outputs
 * MG_STEP       bytes from a window to the next in an interleaved row
 * MG_IN_HEIGHT  input rows, of MG_IN_ROW bytes
 * MG_APART      input rows from a kernel row to the next
 * MG_STRIDE     input rows from an output row to the next
 * MG_ABOVE      rows of padding above the image
 * scratch: 64 bytes per four outputs; the copied taps, with room for whole vectors and for a multiple of 4 outputs; an
 * interleaved row. */
#define MG_DECLARE_conv2d_s8__mve_woven_flat(f) \
    MG_LINKAGE void f(const mg_conv2d_s8__mve_woven_params *p, const int8_t *in, int8_t *out, int8_t *scratch)

#endif /* MCUGEN_CONV2D_S8__MVE_WOVEN_H */
