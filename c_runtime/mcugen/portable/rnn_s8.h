/* SPDX-License-Identifier: Apache-2.0
 *
 * Recurrent layer without gates on int8 data with an int16 state, step by step. Rows of weights have scales of their own.
 *
 *   h = act(clamp(saturate16((w_bias + W x) scaled) + saturate16((r_bias + R h8) scaled)))   h8: the upper byte of h
 *   y = h8
 *
 * Sums have 12 fraction bits or less: times `factor`, they are in steps of 1 / (3 * 4096), and h has 15 fraction bits.
 * With kind 2, h is the sum, at least 0, and factor is 1. Each line is rounded once, halves up.
 *
 * w, r      weights of the data [hidden][inputs] and of the state [hidden][hidden]
 * kind      0 logistic, 1 tanh, 2 the larger of 0 and the sum
 * Other fields: MG_GATE_FIELDS in gates_s16.h.
 */
#ifndef MCUGEN_RNN_S8_H
#define MCUGEN_RNN_S8_H

#include "mcugen/gates_s16.h"

typedef struct {
    const int8_t *w, *r;
    MG_GATE_FIELDS
    uint8_t w_left, r_left, kind;
} mg_rnn_s8_params;

/* x [steps][batches][inputs]; h0: initial state [batches][hidden]. y: receives h8 after each step
 * [steps][batches][hidden]; h: the last state. scratch: 5 * hidden bytes. */
void mg_rnn_s8(const mg_rnn_s8_params *p, const int8_t *x, const mg_s16 *h0, int8_t *y, mg_s16 *h, void *scratch);

#endif /* MCUGEN_RNN_S8_H */
