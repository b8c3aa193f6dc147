/* SPDX-License-Identifier: Apache-2.0
 *
 * Padding of int8 images, one output row at a time.
 *
 *   row = `before` values, then `runs` runs of `run` elements of x with `gap` values between them, then `after` values
 *
 * Equals the reference runtime's Pad for images.
 */
#ifndef MCUGEN_PAD_ROWS_S8_H
#define MCUGEN_PAD_ROWS_S8_H

#include "mcugen/runtime.h"

typedef struct {
    int32_t value;
    uint32_t before, runs, run, gap, after;
} mg_pad_rows_s8_params;

/* Output row y. rows: the one input row, filled with the value where it lies outside the image. */
void mg_pad_rows_s8(const mg_pad_rows_s8_params *p, const int8_t *const *rows, uint32_t y, int8_t *out);

#endif /* MCUGEN_PAD_ROWS_S8_H */
