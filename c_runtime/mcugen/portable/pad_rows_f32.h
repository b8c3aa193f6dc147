/* SPDX-License-Identifier: Apache-2.0
 *
 * Padding of float images, one output row at a time.
 *
 *   row = `before` values, then `runs` runs of `run` elements of x with `gap` values between them, then `after` values
 *
 * Equals the reference runtime's Pad for images.
 */
#ifndef MCUGEN_PAD_ROWS_F32_H
#define MCUGEN_PAD_ROWS_F32_H

#include "mcugen/runtime.h"

typedef struct {
    float value;
    uint32_t before, runs, run, gap, after;
} mg_pad_rows_f32_params;

/* Output row y. rows: the one input row, filled with the value where it lies outside the image. */
void mg_pad_rows_f32(const mg_pad_rows_f32_params *p, const mg_f32 *const *rows, uint32_t y, mg_f32 *out);

#endif /* MCUGEN_PAD_ROWS_F32_H */
