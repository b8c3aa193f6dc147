/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of rows of int8 weights with a vector of int8, as sums of gates in int16.
 */
#ifndef MCUGEN_GATE_ROWS_H
#define MCUGEN_GATE_ROWS_H

#include "mcugen/gates_s16.h"

/* Rows of n weights, with the bias and the scale of each; see mg_gate_sum. */
typedef struct {
    const int8_t *w;
    const int32_t *bias, *mult;
    const uint8_t *shift;
    uint32_t left, n;
} mg_gate_rows;

/* The rows after the first `count`. */
static inline mg_gate_rows mg_gate_rows_after(mg_gate_rows rows, uint32_t count)
{
    const mg_gate_rows rest = {rows.w + count * rows.n, rows.bias + count, rows.mult + count, rows.shift + count,
                               rows.left, rows.n};
    return rest;
}

/* out[k] = the sum of a gate over row k, for `count` rows */
static inline void mg_gate_sums(const mg_gate_rows *rows, const int8_t *x, uint32_t count, mg_s16 *out)
{
    const int8_t *w = rows->w;
    for (uint32_t k = 0u; k < count; k += 1u) {
        int32_t sum = rows->bias[k];
        for (uint32_t i = 0u; i < rows->n; i += 1u) {
            sum += w[i] * x[i];
        }
        w += rows->n;
        out[k] = (int16_t)mg_gate_sum(sum, rows->left, rows->mult[k], rows->shift[k]);
    }
}

#endif /* MCUGEN_GATE_ROWS_H */
