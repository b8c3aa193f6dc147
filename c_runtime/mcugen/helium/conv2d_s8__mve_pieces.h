/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of int8 images with few channels for cores with Helium with little scratch: for a few output pixels at a
 * time, the input columns that they read are interleaved as in conv2d_s8__mve_woven.h. Then all their outputs
 * are computed, two pixels together.
 *
 *   sum = sum over taps of w[o] * x
 *   y[o] = clamp(requantize(bias[o] + sum, mult[o], shift[o]) + out_zero_point)
 *
 * stream   blocks of 4 outputs: int8 weights [MG_STEPS][4][16], zero if there is no tap; int32 bias[4] (the input's
 *          zero point is folded in), mult[4], shift[4] (0 or less: to the right)
 *          If out_c is not a multiple of 4, the last block ends with the last output and repeats some of the block
 *          before
 * places   byte offsets among the interleaved bytes, for the bytes of a vector of an input row, or of 3 vectors if
 *          MG_CHUNK is 48
 * sums     cannot leave 32 bits: proved when the code is generated
 *
 * Sizes:
 * MG_WIDTH     outputs of a row, of MG_OUTPUTS (4 to 255) channels
 * MG_PIECE     outputs that are computed at a time, 2 or more; they read MG_COLUMNS columns, MG_USED bytes of each row
 * MG_STRIDE    columns from a window to the next; the first one begins MG_LEFT columns left of the image
 * MG_IN_WIDTH  columns of the image
 * MG_FINISH    see conv2d_s8__mve.h; other sizes: see conv2d_s8__mve_woven.h
 * Equals the reference runtime's Conv2D for int8 data.
 */
#ifndef MCUGEN_CONV2D_S8__MVE_PIECES_H
#define MCUGEN_CONV2D_S8__MVE_PIECES_H

#include "mcugen/little_endian.h"
#include "mcugen/mve.h"
#include "mcugen/variant.h"

typedef struct {
    const int8_t *stream;
    const uint8_t *places;
    int16_t out_zero_point, out_min, out_max, in_zero_point;
} mg_conv2d_s8__mve_pieces_params;

/* rows: NULL for rows outside the image. scratch: the interleaved columns, with room for reading windows in whole
 * vectors. */
#define MG_DECLARE_conv2d_s8__mve_pieces(f) \
    MG_LINKAGE void f(const mg_conv2d_s8__mve_pieces_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, int8_t *scratch)

#endif /* MCUGEN_CONV2D_S8__MVE_PIECES_H */
