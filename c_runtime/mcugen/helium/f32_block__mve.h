/* SPDX-License-Identifier: Apache-2.0
 *
 * All output channels of one, two or three pixels of floats whose taps have the same layout.
 */
#ifndef MCUGEN_F32_BLOCK__MVE_H
#define MCUGEN_F32_BLOCK__MVE_H

#include "mcugen/f32_bounded.h"
#include "mcugen/mve.h"

/* rows, rows_end: the pointers to the kernel's rows.
 * at, step: bytes from a row's start to the first tap of the first pixel, and from pixel to pixel.
 * runs, run, run_gap: of each row: how many runs of neighbouring taps, their taps, bytes from the end of one to the
 * next. lead, row_gap: bytes of the eights of weights left out before the first run, and between those of two rows.
 * channels, out: what is left of them, changed by the functions; out_step: bytes from pixel to pixel. */
typedef struct {
    const void *weights;
    const mg_f32 *const *rows;
    const mg_f32 *const *rows_end;
    uint32_t at, step;
    uint32_t runs, run, run_gap;
    uint32_t lead, row_gap;
    uint32_t channels;
    mg_f32 *out;
    uint32_t out_step;
    int32_t low, high;
} mg_f32_block;

#endif /* MCUGEN_F32_BLOCK__MVE_H */
