/* SPDX-License-Identifier: Apache-2.0
 *
 * LSTM layer over float sequences, one step after the other.
 *
 *   i, o, f = gate(W x + R h + b + P c),  g = cell(W x + R h + b)
 *   c = f * c + i * g,  h = o * out(c)
 *
 * w, r, b  weights of the data [4, hidden, inputs] and of the state [4, hidden, hidden], and biases [4, hidden];
 *          gates in the order i, o, f, g
 * Equals Lstm.reference within rounding.
 */
#ifndef MCUGEN_LSTM_F32_H
#define MCUGEN_LSTM_F32_H

#include "mcugen/recurrent_f32.h"

typedef struct {
    MG_LSTM_FIELDS
} mg_lstm_f32_params;

/* x [steps, batches, inputs]; h0, c0 [batches, hidden] -> y [steps, batches, hidden]; h, c: the last state and cell;
 * scratch: 4 * hidden floats. */
void mg_lstm_f32(const mg_lstm_f32_params *p, const mg_f32 *x, const mg_f32 *w, const mg_f32 *r, const mg_f32 *b,
                 const mg_f32 *h0, const mg_f32 *c0, mg_f32 *y, mg_f32 *h, mg_f32 *c, void *scratch);

#endif /* MCUGEN_LSTM_F32_H */
