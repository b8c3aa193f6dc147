/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of int8 images of few channels for cores with Helium. The input rows of a window are woven, so that the
 * taps of a pixel lie beside each other and none is gathered: [column][kernel row][channel].
 *
 *   sum = sum over taps of w[o] * x
 *   y[o] = clamp(requantize(bias[o] + sum, mult[o], shift[o]) + out_zero_point)
 *
 * Four outputs are computed at a time: first the sums of all pixels of a row, the weights of two outputs in registers;
 * of each such pair and of four pixels, [2][4] int32. Then the outputs of four pixels become bytes at once, a pixel in a
 * word: those are the first outputs of two pairs and then their second ones, so pairs are outputs 0 and 2, 1 and 3. If
 * out_c is no multiple of 4, the last four repeat outputs so that they end with the last one.
 *
 * stream  of each pair: int8 weights [2][MG_STEPS][16], zero where there is no tap. Weights beyond int8 are the sum of
 *         two; the second ones of a pair stand behind the first.
 * places  of the bytes of 1 vector of an input row, or of 3 if MG_CHUNK is 48, where they go among the woven; of two
 *         times 16 outputs, where they go in a row; with MG_SPLIT, of each pair whether there are second weights
 * rest    of each four outputs: shifts less MG_DOWN, two int16 of each pair, int32 bias[4] (the zero point folded in),
 *         mult[4], in the order of the pairs
 * sums    cannot leave 32 bits, nor their high products, shifted right by MG_DOWN, 16: proved when the code is generated.
 *         The first shift rounds down and leaves at least 1 of an output's shift, which rounds: as if it were one.
 *
 * Sizes of a copy: MG_FINISH as in conv2d_s8__mve.h; MG_WIDTH outputs of MG_OUTPUTS channels in a row, MG_STEPS (1 to 3)
 * steps of 16 taps; MG_ROWS kernel rows of MG_CHANNELS; MG_PIXEL bytes from window to window; MG_USED bytes of an input
 * row after MG_LEFT columns, MG_COLUMNS in all; MG_CHUNK bytes of a row woven at a time; MG_TAPS taps; MG_SPLIT 1
 * if there are weights beyond int8.
 * Equals the reference runtime's Conv2D for int8 data.
 */
#ifndef MCUGEN_CONV2D_S8__MVE_WOVEN_H
#define MCUGEN_CONV2D_S8__MVE_WOVEN_H

#include "mcugen/little_endian.h"
#include "mcugen/mve.h"
#include "mcugen/variant.h"

typedef struct {
    const int8_t *stream;
    const int32_t *rest;
    const uint8_t *places;
    int16_t out_zero_point, out_min, out_max, in_zero_point;
} mg_conv2d_s8__mve_woven_params;

/* rows: NULL outside the image. scratch: 64 bytes for each four pixels, then the woven rows, as far as windows of whole
 * vectors and a multiple of 4 pixels reach. */
#define MG_DECLARE_conv2d_s8__mve_woven(f) \
    MG_LINKAGE void f(const mg_conv2d_s8__mve_woven_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, int8_t *scratch)

/* A whole image, where rows are short: taps are copied once more, so that all outputs of MG_BAND rows are one row of
 * MG_WIDTH outputs, MG_PIXEL = MG_TAPS. MG_HEIGHT rows of MG_ACROSS outputs. MG_STEP: bytes from window to window in a
 * woven row; an output row reads every MG_APART-th of MG_IN_HEIGHT input rows of MG_IN_ROW bytes, MG_STRIDE below those
 * of the row before, the first one from MG_ABOVE above the image on. scratch: as above, with the taps of whole vectors
 * and of a multiple of 4 outputs before a woven row. */
#define MG_DECLARE_conv2d_s8__mve_woven_flat(f) \
    MG_LINKAGE void f(const mg_conv2d_s8__mve_woven_params *p, const int8_t *in, int8_t *out, int8_t *scratch)

#endif /* MCUGEN_CONV2D_S8__MVE_WOVEN_H */
