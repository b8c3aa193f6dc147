/* SPDX-License-Identifier: Apache-2.0
 *
 * LSTM layer on int8 data with an int16 cell state, step by step.
 *
 *   per gate: sum = saturate(saturate(requantize(w_bias + W x, w_mult, w_shift)) + requantize(r_bias + R h, r_mult,
 *   r_shift))
 *   i, f, o = logistic(sum), g = tanh(sum)      sums have 12 fraction bits
 *   c = clamp(saturate(f * c) + saturate(i * g)), h = clamp(requantize(o * tanh(c), h_mult, h_shift) + h_zero_point)
 *
 * w, r      weights of the input [hidden][inputs][4] and of the state [hidden][hidden][4]; gates in the order i, f, g,
 *           o
 * w_bias, r_bias  [hidden][4]; the zero points of x and h are folded in
 * table     sigmoid(i / 24) for i = 0 .. 255; NULL for the _series functions
 * cell_shift  log2 of the cell's scale
 * clip      the cell is clamped to -clip .. clip; 0: it is not clamped
 * step_in, step_out    elements from a step to the next, of x and of y
 * batch_in, batch_out  elements from a batch element to the next, of x and of y
 * mg_lstm_s8 equals TensorFlow Lite Micro, mg_lstm_s8_series LiteRT.
 */
#ifndef MCUGEN_LSTM_S8_H
#define MCUGEN_LSTM_S8_H

#include "mcugen/runtime.h"

typedef struct {
    const int8_t *w, *r;
    const int32_t *w_bias, *r_bias;
    const uint16_t *table;
    int32_t w_mult[4], r_mult[4];
    int32_t h_mult;
    uint32_t steps, batches, inputs, hidden, step_in, batch_in, step_out, batch_out;
    int16_t clip, h_zero_point;
    int8_t w_shift[4], r_shift[4];
    int8_t h_shift, cell_shift;
} mg_lstm_s8_params;

/* h0, c0: initial state and cell, [batches][hidden]. c: receives the last cell, may be equal to c0. y: receives the
 * state after each step. scratch: not used. */
void mg_lstm_s8(const mg_lstm_s8_params *p, const int8_t *x, const int8_t *h0, const mg_s16 *c0, mg_s16 *c, int8_t *y,
                void *scratch);
void mg_lstm_s8_series(const mg_lstm_s8_params *p, const int8_t *x, const int8_t *h0, const mg_s16 *c0, mg_s16 *c,
                       int8_t *y, void *scratch);

#endif /* MCUGEN_LSTM_S8_H */
