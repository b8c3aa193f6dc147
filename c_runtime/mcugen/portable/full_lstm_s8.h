/* SPDX-License-Identifier: Apache-2.0
 *
 * LSTM layer on int8 data with an int16 cell, with optional peepholes, layer normalization, coupled gates and
 * projection.
 *
 *   sum_g = saturate(requantize(w_bias + W x)) + requantize(r_bias + R h) + requantize(p * c), saturated after each
 *   sum_g = norm(sum_g), if there are weights n: mean 0 and variance 1 over the units, times n, plus b
 *   i, f, o = logistic(sum), g = tanh(sum), with 12 bits of fraction; o is computed from the new cell, and i = 1 - f if coupled
 *   c = clamp(saturate(f * c + i * g)), v = clamp(requantize(o * tanh(c)) + hidden_zero)
 *   h = v, or clamp(requantize(j_bias + J v) + zero), within result_clip, if there is a projection J
 *
 * w, r, n, b  weights by gate, in the order i, f, g, o; without i if coupled
 * p           peephole weights of i, f and o
 * guard       per gate, the variance that is used in place of variances below 1
 * cell_shift  log2 of the cell's scale;   clip: bound of the magnitude of the cell
 * step_in, step_out: elements from one step of x and of y to the next;   batch_in, batch_out: from one batch to the next
 * p, n, b, j and j_bias may be NULL.
 * Equals LiteRT.
 */
#ifndef MCUGEN_FULL_LSTM_S8_H
#define MCUGEN_FULL_LSTM_S8_H

#include "mcugen/runtime.h"

typedef struct {
    const int8_t *w, *r, *j;
    const int32_t *w_bias, *r_bias, *j_bias, *b;
    const mg_s16 *p, *n;
    int32_t w_mult[4], r_mult[4], p_mult[4], n_mult[4], guard[4];
    int32_t h_mult, j_mult;
    uint32_t steps, batches, inputs, hidden, results, step_in, batch_in, step_out, batch_out;
    int16_t clip, hidden_zero, zero;
    uint8_t coupled, result_clip;
    int8_t w_shift[4], r_shift[4], p_shift[4], n_shift[4];
    int8_t h_shift, j_shift, cell_shift;
} mg_full_lstm_s8_params;

/* h0 [batches][results], c0 [batches][hidden]: initial state and cell. c: receives the last cell, may be equal to c0.
 * y: receives the state after each step. scratch: 9 * hidden bytes. */
void mg_full_lstm_s8(const mg_full_lstm_s8_params *p, const int8_t *x, const int8_t *h0, const mg_s16 *c0, mg_s16 *c,
                     int8_t *y, void *scratch);

#endif /* MCUGEN_FULL_LSTM_S8_H */
