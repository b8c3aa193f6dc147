/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of int8 images on cores with SMLAD: input rows are widened once, into a ring, then three pixels are
 * computed at a time.
 *
 *   y[o] = clamp(requantize(bias[o] + sum over taps and channels of w[o] * x, mult[o], shift[o]) + out_zero_point)
 *
 * x             int8 [rows of in_w * in_c]
 * row           int16 [row_length]: pad_left elements of the value `outside`, an input row, `outside` up to the end.
 *               The input row's elements, by MG_WIDEN:
 *               0: in groups of four, in the order 0, 2, 1, 3
 *               1: in their own order
 *               2: in their own order; each pixel is filled up with `outside` to in_step elements
 * stream        weights, biases and scales, up to `last`: see dsp_block_template.h; pairs_end: end of the last whole
 *               pair of channels
 * triples_end   pixels that are computed three at a time; the rest is computed in pairs, a single last pixel paired
 *               with itself
 * run_offsets   elements from the start of a row to each run of contiguous taps
 * low, high     the clamp; clamps: 1 if it is narrower than int8
 * Kernels that gather taps:
 * kernel_h      rows, each with runs_per_row runs of run_groups groups of four taps
 * step          elements from a pixel's taps to the next pixel's
 * scratch       int16 [words][3][2]: two taps of each of three pixels; words behind the taps have zero weights
 * The build has proved that no sum leaves 32 bits. Equals the reference runtime's Conv2D for int8 data.
 */
#ifndef MCUGEN_DSP_RING_H
#define MCUGEN_DSP_RING_H

#include "mcugen/little_endian.h"
#include "mcugen/variant.h"

typedef struct {
    const int32_t *stream;
    const uint32_t *run_offsets;
    uint32_t pairs_end, last;
    uint32_t pad_left, row_length;
    uint32_t words, step;
    uint16_t in_w, in_c, in_step, out_w, out_c, triples_end;
    uint16_t kernel_h, runs_per_row, run_groups;
    int16_t outside;
    int16_t low, high;
    uint8_t clamps;
} mg_dsp_ring_params;

#define MG_DECLARE_dsp_ring(f)                                                                            \
    MG_LINKAGE void MG_PART(f, row)(const mg_dsp_ring_params *p, const int8_t *in, mg_s16 *row); \
    MG_LINKAGE void f(const mg_dsp_ring_params *p, const mg_s16 *const *rows, int8_t *out)

#define MG_DECLARE_dsp_gathered(f)                                                                        \
    MG_LINKAGE void MG_PART(f, row)(const mg_dsp_ring_params *p, const int8_t *in, mg_s16 *row); \
    MG_LINKAGE void f(const mg_dsp_ring_params *p, const mg_s16 *const *rows, int8_t *out, mg_s16 *scratch)

#endif /* MCUGEN_DSP_RING_H */
