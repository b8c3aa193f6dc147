/* SPDX-License-Identifier: Apache-2.0
 *
 * LSTM layer over float sequences, one step after the other, with constant weights: eight rows of gates at a time.
 *
 *   i, o, f = gate(W x + R h + b + P c),  g = cell(W x + R h + b)
 *   c = f * c + i * g,  h = o * out(c)
 *
 * weights  rows of gates in the order i, o, f, g as mg_fully_connected_f32__eights has them: taps of the data, then of
 *          the state
 * Equals Lstm.reference within rounding.
 */
#ifndef MCUGEN_LSTM_F32__EIGHTS_H
#define MCUGEN_LSTM_F32__EIGHTS_H

#include "mcugen/recurrent_f32.h"

typedef struct {
    const float *weights;
    MG_LSTM_FIELDS
} mg_lstm_f32__eights_params;

/* x [steps, batches, inputs]; h0, c0 [batches, hidden] -> y [steps, batches, hidden]; h, c: the last state and cell;
 * scratch: 5 * hidden + inputs floats. */
void mg_lstm_f32__eights(const mg_lstm_f32__eights_params *p, const mg_f32 *x, const mg_f32 *h0, const mg_f32 *c0, mg_f32 *y,
                         mg_f32 *h, mg_f32 *c, void *scratch);

#endif /* MCUGEN_LSTM_F32__EIGHTS_H */
