/* SPDX-License-Identifier: Apache-2.0
 *
 * LSTM layer over float sequences, with optional layer normalization of the gates and projection of the results.
 *
 *   i, o, f = sigmoid(norm(W x + R h + P c)),  g = tanh(norm(W x + R h))
 *   c = f * c + i * g,  h = J (o * tanh(c)) + d
 *
 * w, r, b  weights of the data [4, hidden, inputs] and of the state [4, hidden, outputs], and biases [4, hidden];
 *          gates in the order i, o, f, g
 * p        peephole weights [3, hidden] of i, o, f, or NULL
 * j, d     weights [outputs, hidden] and biases [outputs] of the projection, or NULL
 * n        norm(x) = (x - mean) / deviation * n + b over the units of a gate [4, hidden]; NULL: norm(x) = x + b
 * cell_clip, state_clip  bounds of the magnitude of c and of a projected h; 0: no bound
 * coupled  1: i is 1 - f
 * Equals ProjectedLstm.reference within rounding.
 */
#ifndef MCUGEN_PROJECTED_LSTM_F32_H
#define MCUGEN_PROJECTED_LSTM_F32_H

#include "mcugen/recurrent_f32.h"

typedef struct {
    const mg_f32 *p, *j, *d, *n;
    uint32_t steps, batches, inputs, hidden, outputs;
    uint32_t coupled;
    float cell_clip, state_clip;
} mg_projected_lstm_f32_params;

/* x [steps, batches, inputs]; h0 [batches, outputs], c0 [batches, hidden] -> y [steps, batches, outputs]; h, c: the
 * last state and cell; scratch: 4 * hidden floats. */
void mg_projected_lstm_f32(const mg_projected_lstm_f32_params *p, const mg_f32 *x, const mg_f32 *w, const mg_f32 *r,
                           const mg_f32 *b, const mg_f32 *h0, const mg_f32 *c0, mg_f32 *y, mg_f32 *h, mg_f32 *c,
                           void *scratch);

#endif /* MCUGEN_PROJECTED_LSTM_F32_H */
