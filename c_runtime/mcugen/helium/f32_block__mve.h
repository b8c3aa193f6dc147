/* SPDX-License-Identifier: Apache-2.0
 *
 * All output channels of one, two or three pixels of floats that have the same kernel columns inside the image.
 */
#ifndef MCUGEN_F32_BLOCK__MVE_H
#define MCUGEN_F32_BLOCK__MVE_H

#include "mcugen/f32_bounded.h"
#include "mcugen/mve.h"

/* weights     weights of the next output channels
 * rows        pointers to the kernel's rows, up to rows_end
 * at          bytes from a row's start to the first tap of the first pixel
 * step        bytes from a pixel's first tap to the next pixel's
 * runs        runs (contiguous taps) of a kernel row: run_length taps each, run_gap bytes from the end of one to the
 *             next
 * lead        bytes of the weights of eight channels that are skipped before the first tap
 * row_gap     bytes of the weights of eight channels that are skipped between two rows
 * channels    output channels left; out: the next output of the first pixel. The functions change both
 * out_step    bytes from a pixel's outputs to the next pixel's
 * low, high   bounds of the outputs */
typedef struct {
    const void *weights;
    const mg_f32 *const *rows;
    const mg_f32 *const *rows_end;
    uint32_t at, step;
    uint32_t runs, run_length, run_gap;
    uint32_t lead, row_gap;
    uint32_t channels;
    mg_f32 *out;
    uint32_t out_step;
    int32_t low, high;
} mg_f32_block;

#endif /* MCUGEN_F32_BLOCK__MVE_H */
