/* SPDX-License-Identifier: Apache-2.0
 *
 * Plain recurrent layer over float sequences with int8 weights. The data was quantized at run time, with a scale and a
 * zero point per step. The state is quantized before each step.
 *
 *   h = act(b + W (q - z) * s + R h)
 *
 * w, r              weights of the data [hidden, inputs] and of the state [hidden, hidden]
 * w_sums, r_sums    sums of the weights over the last axis
 * w_scale, r_scale  scales of the weights
 * kind              the activation
 * symmetric         the state is quantized without a zero point
 * Equals HybridRnn.reference_q within rounding.
 */
#ifndef MCUGEN_HYBRID_RNN_H
#define MCUGEN_HYBRID_RNN_H

#include "mcugen/dynamic_range.h"
#include "mcugen/recurrent_f32.h"

typedef struct {
    const int8_t *w, *r;
    const int32_t *w_sums, *r_sums;
    const mg_f32 *b;
    float w_scale, r_scale;
    uint32_t steps, batches, inputs, hidden;
    uint32_t kind, symmetric;
} mg_hybrid_rnn_params;

/* q [steps, batches, inputs]; s, z [steps, batches]; h0 [batches, hidden] -> y [steps, batches, hidden]; h: the last
 * state; scratch: hidden bytes. */
void mg_hybrid_rnn(const mg_hybrid_rnn_params *p, const int8_t *q, const mg_f32 *s, const int8_t *z, const mg_f32 *h0,
                   mg_f32 *y, mg_f32 *h, void *scratch);

#endif /* MCUGEN_HYBRID_RNN_H */
