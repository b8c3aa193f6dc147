/* SPDX-License-Identifier: Apache-2.0
 *
 * Plain recurrent layer over float sequences, one step after the other.
 *
 *   h = act(W x + R h + b)
 *
 * w, r, b  weights of the data [hidden, inputs] and of the state [hidden, hidden], and biases [hidden]
 * kind     the activation;   clip: bound of the magnitude of the sums; 0: no bound
 * Equals Rnn.reference within rounding.
 */
#ifndef MCUGEN_RNN_F32_H
#define MCUGEN_RNN_F32_H

#include "mcugen/recurrent_f32.h"

typedef struct {
    uint32_t steps, batches, inputs, hidden;
    uint32_t kind;
    float clip;
} mg_rnn_f32_params;

/* x [steps, batches, inputs]; h0 [batches, hidden] -> y [steps, batches, hidden]; h: the last state. */
void mg_rnn_f32(const mg_rnn_f32_params *p, const mg_f32 *x, const mg_f32 *w, const mg_f32 *r, const mg_f32 *b,
                const mg_f32 *h0, mg_f32 *y, mg_f32 *h);

#endif /* MCUGEN_RNN_F32_H */
