/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of int8 images for cores with Helium without memory of its own: vectors of taps are read where they lie in
 * the input's rows, for eight outputs of a pixel at a time, or four where there are no more.
 *
 *   sum = sum over taps of w[o] * x
 *   y[o] = clamp(requantize(bias[o] + sum, mult[o], shift[o]) + out_zero_point)
 *
 * A vector holds MG_PER (1 or more) kernel rows of MG_RUN taps; of longer rows, each begins a vector. Of rows of at most
 * four taps each takes a word: the first, the third, the second and the fourth. Taps beyond the sides of the image are left
 * out, and biases of columns that have such are less what the zero point makes of them.
 *
 * stream  blocks of outputs: int8 weights [vectors][block][16]; int32 mult and shift (0 or less: to the right) of the even
 *         outputs and of the odd ones: mult, mult, shift, shift
 * biases  the zero point folded in: of each block, for columns in the image, and for each of the others
 * masks   of the lanes that are read, for the same columns: of each row of a vector, or of each vector of a row
 * sums    cannot leave 32 bits: proved when the code is generated
 *
 * Sizes of a copy: MG_FINISH as in conv2d_s8__mve.h; MG_ROWS rows of MG_RUN taps, MG_PER of them in a vector; MG_OUTPUTS
 * outputs of a pixel.
 * Equals the reference runtime's Conv2D for int8 data.
 */
#ifndef MCUGEN_CONV2D_S8__MVE_DIRECT_H
#define MCUGEN_CONV2D_S8__MVE_DIRECT_H

#include "mcugen/little_endian.h"
#include "mcugen/mve.h"
#include "mcugen/variant.h"

/* nbytes: of the stream. Windows begin `first` bytes behind the begin of rows, and move by `step`; columns [inside_first,
 * inside_end) read nothing beyond the row. */
typedef struct {
    const int8_t *stream;
    const int32_t *biases;
    const uint16_t *masks;
    uint32_t nbytes;
    int32_t first, step;
    uint16_t out_w, inside_first, inside_end;
    int16_t out_zero_point, out_min, out_max;
} mg_conv2d_s8__mve_direct_params;

/* Pixels beside each other: n of them, whose windows begin `at` bytes behind the begin of rows. end: of the rows that fill
 * whole vectors. masks: NULL where windows are in the image and no others have their form. */
typedef struct {
    const int8_t *const *rows, *const *end;
    const int32_t *biases, *now;
    const int8_t *stream, *stream_end;
    int32_t zero_point;
    int8_t *out;
    uint32_t n;
    int32_t step;
    uint32_t left;
    int32_t least, most, at;
    const uint16_t *masks, *masks_end;
} mg_conv2d_s8__mve_direct_job;

/* rows: those outside the image filled with the zero point of the input. */
#define MG_DECLARE_conv2d_s8__mve_direct(f) \
    MG_LINKAGE void f(const mg_conv2d_s8__mve_direct_params *p, const int8_t *const *rows, uint32_t y, int8_t *out)

#endif /* MCUGEN_CONV2D_S8__MVE_DIRECT_H */
