/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of int8 images for cores with Helium, without scratch: vectors of taps are read from the input's rows,
 * for eight outputs of a pixel at a time, or four if there are no more.
 *
 *   sum = sum over taps of w[o] * x
 *   y[o] = clamp(requantize(bias[o] + sum, mult[o], shift[o]) + out_zero_point)
 *
 * A vector of 16 taps holds MG_PER kernel rows of MG_RUN taps. If MG_PER is 1, each row begins a vector and may fill
 * several.
 * If MG_PER is more than 1 and MG_RUN at most 4, rows 0 to 3 take words 0, 2, 1 and 3 of the vector. Taps left and
 * right of the image are not read: the biases of such output columns count the input's zero point in the other taps
 * only.
 *
 * stream   blocks of outputs: int8 weights [vectors][outputs of the block][16]; then int32 mult of the even outputs,
 *          mult of the odd ones, shift of the even ones, shift of the odd ones (0 or less: to the right)
 * biases   [block]: for the output columns that read inside the image only, then for each other column
 * masks    lanes that are read, for the same columns: per row of a vector, or per vector of a row
 * sums     cannot leave 32 bits: proved when the code is generated
 *
 * Sizes: MG_ROWS kernel rows of MG_RUN taps, MG_PER rows in a vector, MG_OUTPUTS outputs of a pixel; MG_FINISH: see
 * conv2d_s8__mve.h. Equals the reference runtime's Conv2D for int8 data.
 */
#ifndef MCUGEN_CONV2D_S8__MVE_DIRECT_H
#define MCUGEN_CONV2D_S8__MVE_DIRECT_H

#include "mcugen/little_endian.h"
#include "mcugen/mve.h"
#include "mcugen/variant.h"

/* nbytes       bytes of the stream
 * first, step  byte offset of the first window in a row, and bytes from a window to the next
 * Output columns [inside_first, inside_end) read nothing outside the image. */
typedef struct {
    const int8_t *stream;
    const int32_t *biases;
    const uint16_t *masks;
    uint32_t nbytes;
    int32_t first, step;
    uint16_t out_w, inside_first, inside_end;
    int16_t out_zero_point, out_min, out_max;
} mg_conv2d_s8__mve_direct_params;

/* n adjacent pixels, whose windows begin `at` bytes behind the start of the rows and are `step` bytes apart.
 * end            end of the rows that fill whole vectors
 * least, most    the clamp
 * masks          up to masks_end; NULL if the windows are inside the image and need none (MG_QUICK)
 * next_biases, outputs_left  set and read by the assembly only */
typedef struct {
    const int8_t *const *rows, *const *end;
    const int32_t *biases, *next_biases;
    const int8_t *stream, *stream_end;
    int32_t zero_point;
    int8_t *out;
    uint32_t n;
    int32_t step;
    uint32_t outputs_left;
    int32_t least, most, at;
    const uint16_t *masks, *masks_end;
} mg_conv2d_s8__mve_direct_job;

/* rows: rows outside the image are filled with the input's zero point. */
#define MG_DECLARE_conv2d_s8__mve_direct(f) \
    MG_LINKAGE void f(const mg_conv2d_s8__mve_direct_params *p, const int8_t *const *rows, uint32_t y, int8_t *out)

#endif /* MCUGEN_CONV2D_S8__MVE_DIRECT_H */
