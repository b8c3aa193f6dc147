/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of int8 images for cores with Helium, on rows padded with the input's zero point.
 *
 *   sum = sum over taps and channels of w[o] * x
 *   y[o] = clamp(requantize(bias[o] + sum, mult[o], shift[o]) + out_zero_point)
 *
 * row     int8 [left padding, columns, right padding][row_c]: row_c >= in_c, so that pixels are aligned where words are
 *         loaded; row_bytes in all, with room to read in steps of 16 beyond the last pixel
 * stream  blocks of 4 outputs: [steps][4][16] int8 weights, zero where there is no tap, then int32 bias[4] (the zero
 *         point folded in), mult[4], shift[4] (0 or less: to the right). If out_c is no multiple of 4, the last block
 *         repeats outputs so that it ends with the last one.
 *         MG_EIGHTS: out_c is a multiple of 8, and blocks are the even and the odd ones of each 8 outputs.
 * sums    cannot leave 32 bits: proved when the code is generated
 *
 * Sizes of a copy: MG_FINISH 0 clamps to all of int8 with zero point -128, 1 clamps to all of int8, 2 clamps to
 * out_min and out_max; 3 and 4 as 1 and 2, rounded once; 5 as 2, mult being a float32 that scales the sums;
 *   __mve          MG_ROWS kernel rows (1 to 3) of MG_STEPS steps; pixels MG_PIXEL bytes apart; MG_WORDS: words are
 *                  loaded
 *   __mve_patches  MG_ROWS kernel rows of MG_RUNS runs of MG_RUN bytes, MG_GAP bytes apart, are gathered into patches
 *                  of MG_STEPS steps, MG_PIXEL bytes apart; pixels are MG_STRIDE bytes apart in a row
 * Equals the reference runtime's Conv2D for int8 data.
 */
#ifndef MCUGEN_CONV2D_S8__MVE_H
#define MCUGEN_CONV2D_S8__MVE_H

#include "mcugen/little_endian.h"
#include "mcugen/mve.h"
#include "mcugen/variant.h"

typedef struct {
    const int8_t *stream;
    uint32_t out_w, out_c;
    int16_t out_zero_point, out_min, out_max, in_zero_point;
    uint16_t in_w, in_c, row_c, left_bytes;
    uint32_t row_bytes;
} mg_conv2d_s8__mve_params;

#define MG_DECLARE_conv2d_s8__mve(f) \
    MG_LINKAGE void MG_PART(f, row)(const mg_conv2d_s8__mve_params *p, const int8_t *in, int8_t *row); \
    MG_LINKAGE void f(const mg_conv2d_s8__mve_params *p, const int8_t *const *rows, int8_t *out)

/* The variant with MG_EIGHTS 1, which has more code. */
#define MG_DECLARE_conv2d_s8__mve_eights(f) MG_DECLARE_conv2d_s8__mve(f)

/* scratch: out_w * MG_PIXEL bytes. */
#define MG_DECLARE_conv2d_s8__mve_patches(f) \
    MG_LINKAGE void MG_PART(f, row)(const mg_conv2d_s8__mve_params *p, const int8_t *in, int8_t *row); \
    MG_LINKAGE void f(const mg_conv2d_s8__mve_params *p, const int8_t *const *rows, int8_t *out, int8_t *scratch)

#endif /* MCUGEN_CONV2D_S8__MVE_H */
