/* SPDX-License-Identifier: Apache-2.0
 *
 * Product of a banded matrix, whose rows have few adjacent weights, and the vectors along an axis.
 *
 * Element q * rows + r of a result is the sum of the weights of row r times the elements from q * step + first[r] on.
 * Elements beyond the ends are left out. Sums of floats round after each operation, in the order of the weights. Sums
 * of bytes fit 32 bits, of which 22 are fraction bits; they are rounded to the nearest byte.
 */
/* Copies of this file, one a line, with these words replaced:
 * f32 -> u8, mg_f32 -> uint8_t, float -> int32_t
 */
#ifndef MCUGEN_BANDED_F32_H
#define MCUGEN_BANDED_F32_H

#include "mcugen/runtime.h"

typedef struct {
    const int32_t *first;          /* [rows] */
    const uint32_t *taps;          /* [rows], number of weights of each row */
    const float *weights;          /* the weights, row after row */
    uint32_t rows, step;           /* number of rows; elements that all rows move on for the next `rows` results */
    uint32_t length, count;        /* elements along the axis of the operand and of the result */
    uint32_t inner, outer;         /* product of the sizes of the axes behind the axis, and before it */
} mg_banded_f32_params;

/* in [outer][length][inner], out [outer][count][inner]. */
void mg_banded_f32(const mg_banded_f32_params *p, const mg_f32 *in, mg_f32 *out);
/* Computes row y for an axis within rows. rows[0]: row y of the operand. p: describes one row; outer: product of the
 * sizes of its axes before the axis. */
void mg_banded_f32__within(const mg_banded_f32_params *p, const mg_f32 *const *rows, uint32_t y, mg_f32 *out);
/* Computes row y if the axis is that of the rows. rows: the operand's rows, from the first that has a weight on; rows
 * beyond the ends are not read. */
void mg_banded_f32__across(const mg_banded_f32_params *p, const mg_f32 *const *rows, uint32_t y, mg_f32 *out);

#endif /* MCUGEN_BANDED_F32_H */
