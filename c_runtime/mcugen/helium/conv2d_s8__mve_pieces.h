/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of int8 images of few channels for cores with Helium with little memory: a few pixels of the input rows of a
 * window are woven at a time, as conv2d_s8__mve_woven.h does with whole rows, and all of their outputs computed, two pixels
 * together.
 *
 *   sum = sum over taps of w[o] * x
 *   y[o] = clamp(requantize(bias[o] + sum, mult[o], shift[o]) + out_zero_point)
 *
 * stream  blocks of 4 outputs: int8 weights [MG_STEPS][4][16], zero where there is no tap; int32 bias[4] (the zero point
 *         folded in), mult[4], shift[4] (0 or less: to the right). If out_c is no multiple of 4, the last block repeats
 *         outputs so that it ends with the last one.
 * places  of the bytes of 1 vector of an input row, or of 3 if MG_CHUNK is 48, where they go among the woven
 * sums    cannot leave 32 bits: proved when the code is generated
 *
 * Sizes of a copy: MG_FINISH as in conv2d_s8__mve.h; MG_WIDTH outputs of MG_OUTPUTS (4 to 255) channels in a row, MG_PIECE
 * (2 or more) of them at a time, of MG_COLUMNS columns or MG_USED bytes of each row; the rest as in conv2d_s8__mve_woven.h.
 * Windows move by MG_STRIDE columns, from MG_LEFT before the MG_IN_WIDTH of the image.
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

/* rows: NULL outside the image. scratch: the woven columns, as far as windows of whole vectors reach. */
#define MG_DECLARE_conv2d_s8__mve_pieces(f) \
    MG_LINKAGE void f(const mg_conv2d_s8__mve_pieces_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, int8_t *scratch)

#endif /* MCUGEN_CONV2D_S8__MVE_PIECES_H */
