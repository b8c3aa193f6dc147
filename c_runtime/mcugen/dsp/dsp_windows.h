/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of int8 images on cores with SMLAD, without scratch: taps are widened as they are read, for four outputs
 * at a time.
 *
 *   y[o] = clamp(requantize(bias[o] + sum over taps and channels of w[o] * x, mult[o], shift[o]) + out_zero_point)
 *
 * x            int8 [rows of in_w * in_c]; rows outside the image are filled with the input's zero point
 * first, step  byte offset of the first window in a row, and bytes from a window to the next
 * stream       weights, biases and scales in blocks of four outputs, see dsp_vector_block_template.h
 * low, high    the clamp; clamps: 1 if it is narrower than int8
 * A kernel row is read in words of four taps. The last word ends with the row's last tap; a row of fewer taps is one
 * word.
 * Output columns [inside_first, inside_end) read nothing outside the image. For each other column:
 * edges        with MG_EDGES 1, two numbers per word of a kernel row:
 *              [0]: bits 16-31: offset of the word in the row; bits 0-7: by how many bits it is shifted left; bits
 *              8-15: by how many bits it is then shifted right
 *              [1]: the bytes outside the image, which are ORed in
 *              With MG_EDGES 2, four numbers. in_c is a multiple of four, so each word lies inside the image or
 *              outside; the words outside are skipped
 *              [0]: offset of the first word inside; [1]: number of bytes inside
 *              [2], [3]: bytes of the stream to skip before and after these words
 * biases       with MG_EDGES 2: the biases of `blocks` blocks; the input's zero point counts for taps inside only
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

/* Arguments of the code that computes the blocks of a pixel.
 * outputs: number of outputs. edges: NULL if all taps are inside the image; then `at` is the byte offset of the window
 * in each row. */
typedef struct {
    const int8_t *const *rows, *const *rows_end;
    int8_t *out;
    uintptr_t outputs;
    intptr_t at;
    const uint32_t *edges, *edges_end;
    const int32_t *biases, *stream;
} mg_dsp_windows_job;

/* rows: kernel_h input rows. out: out_w * out_c. */
#define MG_DECLARE_dsp_windows(f) \
    MG_LINKAGE void f(const mg_dsp_windows_params *p, const int8_t *const *rows, uint32_t y, int8_t *out)

#endif /* MCUGEN_DSP_WINDOWS_H */
