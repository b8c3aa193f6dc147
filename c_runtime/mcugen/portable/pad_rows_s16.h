/* SPDX-License-Identifier: Apache-2.0
 *
 * Padding of int16 images, one output row at a time.
 *
 *   row = `before` values, then `runs` runs of `run` elements of x with `gap` values between them, then `after` values
 *
 * Equals the reference runtime's Pad for images.
 */
/* Copies of this file, one a line, with these words replaced:
 * s16 -> s8, int16 -> int8, mg_s16 -> int8_t
 * s16 -> f32, int16 -> float, int32_t -> float
 */
#ifndef MCUGEN_PAD_ROWS_S16_H
#define MCUGEN_PAD_ROWS_S16_H

#include "mcugen/runtime.h"

typedef struct {
    int32_t value;
    uint32_t before, runs, run, gap, after;
} mg_pad_rows_s16_params;

/* Computes output row y. rows: the one input row; a row outside the image is filled with the value. */
void mg_pad_rows_s16(const mg_pad_rows_s16_params *p, const mg_s16 *const *rows, uint32_t y, mg_s16 *out);

#endif /* MCUGEN_PAD_ROWS_S16_H */
