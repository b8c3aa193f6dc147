/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of int8 images on cores with SMLAD without memory of its own: the taps of a pixel are widened where they
 * are read, for four outputs at a time.
 *
 *   y[o] = clamp(requantize(bias[o] + sum over taps and channels of w[o] * x, mult[o], shift[o]) + out_zero_point)
 *
 * x       int8 [rows of in_w * in_c], those outside the image filled with the input's zero point
 * A kernel row is read by words of four taps, the last of which ends with its last tap; a row of fewer taps is one word.
 * Columns [inside_first, inside_end) read nothing beyond the row. Of the others, `edges` has `words` pairs each, one for
 * each word of a kernel row:
 *   where in the row a word is read, in the upper half; in the lower bytes, by how many bits that is moved up, and then
 *   down; the bytes outside the image, which are added
 * Where in_c is a multiple of four, words are in the image or not. Those that are not are left out, and `words` is 2, for
 *   where in the row the others begin; their bytes; the bytes in the stream of words before them, and of words behind
 * and `biases` has those of `blocks` blocks for each of these columns, less what the zero point makes of words left out.
 * stream  weights, biases and scales in blocks of four outputs: see dsp_vector_block_template.h
 * low, high  the clamp; clamps: whether it is narrower than int8
 * The build has proved that no sum leaves 32 bits. Equals the reference runtime's Conv2D for int8 data.
 */
#ifndef MCUGEN_DSP_WINDOWS_H
#define MCUGEN_DSP_WINDOWS_H

#include "mcugen/little_endian.h"
#include "mcugen/variant.h"

typedef struct {
    const int32_t *stream;
    const uint32_t *edges;
    const int32_t *biases;
    uint16_t kernel_h, out_w, out_c, words, blocks;
    uint16_t inside_first, inside_end;
    int32_t first, step;
    int16_t low, high;
    uint8_t clamps;
} mg_dsp_windows_params;

/* Arguments of the blocks of a pixel: `left` outputs remain; `edges` is NULL where the taps are in the image, `at` bytes
 * behind the begin of rows. */
typedef struct {
    const int8_t *const *rows, *const *rows_end;
    int8_t *out;
    uintptr_t left;
    intptr_t at;
    const uint32_t *edges, *edges_end;
    const int32_t *biases, *stream;
} mg_dsp_windows_job;

/* rows: kernel_h of them. out: out_w * out_c. */
#define MG_DECLARE_DSP_WINDOWS(f) \
    MG_LINKAGE void f(const mg_dsp_windows_params *p, const int8_t *const *rows, uint32_t y, int8_t *out)

#define MG_DECLARE_conv2d_s8__dsp16_direct(f) MG_DECLARE_DSP_WINDOWS(f)
#define MG_DECLARE_conv2d_s8__dsp8_direct(f) MG_DECLARE_DSP_WINDOWS(f)

#endif /* MCUGEN_DSP_WINDOWS_H */
