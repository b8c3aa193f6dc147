/* SPDX-License-Identifier: Apache-2.0
 *
 * Product of a banded matrix, whose rows have few adjacent weights, and the vectors along an axis.
 *
 * Element q * rows + r of a result is the sum of the weights of row r times the elements from q * step + first[r] on.
 * Elements beyond the ends are left out. Sums of floats round after each operation, in the order of the weights. Sums
 * of bytes fit 32 bits, of which 22 are fraction bits; they are rounded to the nearest byte.
 */
/* Copies:
 * f32 -> u8, mg_f32 -> uint8_t, float -> int32_t
 */
#ifndef MCUGEN_BANDED_F32_H
#define MCUGEN_BANDED_F32_H

#include "mcugen/runtime.h"

typedef struct {
    const int32_t *first;          /* [rows] */
    const uint32_t *taps;          /* [rows], weights of each row */
    const float *weights;          /* the rows one after the other */
    uint32_t rows, step;           /* rows of the matrix; elements by which the rows move for the next `rows` results */
    uint32_t length, count;        /* elements along the axis of the operand and of the result */
    uint32_t inner, outer;         /* products of the axes behind the axis, and before it */
} mg_banded_f32_params;

/* in [outer][length][inner], out [outer][count][inner]. */
void mg_banded_f32(const mg_banded_f32_params *p, const mg_f32 *in, mg_f32 *out);
/* Row y, for an axis within rows. rows: row y of the operand; `outer` counts within a row. */
void mg_banded_f32__within(const mg_banded_f32_params *p, const mg_f32 *const *rows, uint32_t y, mg_f32 *out);
/* Row y, for the axis of the rows. rows: those from the first that has a weight on; not read beyond the ends. */
void mg_banded_f32__across(const mg_banded_f32_params *p, const mg_f32 *const *rows, uint32_t y, mg_f32 *out);

#endif /* MCUGEN_BANDED_F32_H */
