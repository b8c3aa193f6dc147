/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of int8 images for cores with Helium, on rows padded with the input's zero point.
 *
 *   sum = sum over taps and channels of w[o] * x
 *   y[o] = clamp(requantize(bias[o] + sum, mult[o], shift[o]) + out_zero_point)
 *
 * row      int8 [left padding, columns, right padding][row_c], row_bytes in all. row_c >= in_c, so that pixels are
 *          aligned if words are loaded. A row ends with room for reading the last pixel in steps of 16 bytes
 * stream   blocks of 4 outputs: int8 weights [steps][4][16], zero if there is no tap; int32 bias[4] (the input's zero
 *          point is folded in), mult[4], shift[4] (0 or less: to the right)
 *          If out_c is not a multiple of 4, the last block ends with the last output and repeats some of the block
 *          before
 *          MG_EIGHTS 1: out_c is a multiple of 8; each 8 outputs have a block of the even and a block of the odd ones
 * sums     cannot leave 32 bits: proved when the code is generated
 *
 * Sizes:
 * MG_FINISH     0: clamps to all of int8, the zero point is -128;  1: clamps to all of int8;  2: clamps to out_min,
 *               out_max;  3, 4: like 1 and 2, rounded once;  5: like 2, mult is a float32 that scales the sums
 * __mve:
 * MG_ROWS       kernel rows, 1 to 3, of MG_STEPS steps of 16 bytes
 * MG_PIXEL      bytes from a pixel to the next
 * MG_WORDS      1: data are loaded in words
 * __mve_patches, which gathers the taps of each pixel into a patch of MG_STEPS steps:
 * MG_ROWS       kernel rows, each of MG_RUNS runs of MG_RUN bytes, MG_GAP bytes from one run to the next
 * MG_PIXEL      bytes from a patch to the next
 * MG_STRIDE     bytes from a pixel to the next in a row
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

/* The variant with MG_EIGHTS 1: faster, with more code. */
#define MG_DECLARE_conv2d_s8__mve_eights(f) MG_DECLARE_conv2d_s8__mve(f)

/* scratch: out_w * MG_PIXEL bytes. */
#define MG_DECLARE_conv2d_s8__mve_patches(f) \
    MG_LINKAGE void MG_PART(f, row)(const mg_conv2d_s8__mve_params *p, const int8_t *in, int8_t *row); \
    MG_LINKAGE void f(const mg_conv2d_s8__mve_params *p, const int8_t *const *rows, int8_t *out, int8_t *scratch)

#endif /* MCUGEN_CONV2D_S8__MVE_H */
