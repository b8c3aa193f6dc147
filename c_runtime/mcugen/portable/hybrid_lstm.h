/* SPDX-License-Identifier: Apache-2.0
 *
 * LSTM layer over float sequences with int8 weights. The data was quantized at run time, with a scale and a zero point
 * per step. The state is quantized before each step.
 *
 *   i, o, f = sigmoid(b + W (q - z) * s + R h + P c),  g = tanh(b + W (q - z) * s + R h)
 *   c = f * c + i * g,  h = o * tanh(c)
 *
 * w, r              weights of the data [4, hidden, inputs] and of the state [4, hidden, hidden]; gates in the order
 *                   i, o, f, g
 * w_sums, r_sums    sums of the weights over the last axis
 * w_scale, r_scale  the scale of each gate's weights
 * symmetric         the state is quantized without a zero point
 * Equals HybridLstm.reference_q within rounding.
 */
#ifndef MCUGEN_HYBRID_LSTM_H
#define MCUGEN_HYBRID_LSTM_H

#include "mcugen/dynamic_range.h"
#include "mcugen/recurrent_f32.h"

typedef struct {
    MG_LSTM_FIELDS
    const int8_t *w, *r;
    const int32_t *w_sums, *r_sums;
    const mg_f32 *b;
    float w_scale[4], r_scale[4];
    uint32_t symmetric;
} mg_hybrid_lstm_params;

/* q [steps, batches, inputs]; s, z [steps, batches]; h0, c0 [batches, hidden] -> y [steps, batches, hidden]; h, c: the
 * last state and cell; scratch: 4 * hidden floats, then hidden bytes. */
void mg_hybrid_lstm(const mg_hybrid_lstm_params *p, const int8_t *q, const mg_f32 *s, const int8_t *z, const mg_f32 *h0,
                    const mg_f32 *c0, mg_f32 *y, mg_f32 *h, mg_f32 *c, void *scratch);

#endif /* MCUGEN_HYBRID_LSTM_H */
