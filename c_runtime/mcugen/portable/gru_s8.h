/* SPDX-License-Identifier: Apache-2.0
 *
 * Layer of gated recurrent units on int8 data with an int16 state, step by step. Rows of weights have scales of their
 * own.
 *
 *   data = saturate16((w_bias + W x) scaled)   state = saturate16((r_bias + R h8) scaled)   h8: the upper byte of h
 *   z, r = logistic(clamp(data + state))       n = tanh(clamp(data + r * state))
 *   or, if `after` is 0, n = tanh(clamp(data + state)), where R for n is multiplied by r * h, rounded to int8, not by h8
 *   h = n + z * (h - n)                        y = h8
 *
 * Values of gates and h have 15 fraction bits, sums of gates 12 or less: times `factor`, they are in
 * steps of 1 / (3 * 4096). Each line is rounded once, halves up.
 *
 * w, r      weights of the data [3][hidden][inputs] and of the state [3][hidden][hidden]; gates in the order z, r, n
 * Other fields: MG_GATE_FIELDS in gates_s16.h.
 */
#ifndef MCUGEN_GRU_S8_H
#define MCUGEN_GRU_S8_H

#include "mcugen/gates_s16.h"

typedef struct {
    const int8_t *w, *r;
    MG_GATE_FIELDS
    uint8_t w_left, r_left, after;
} mg_gru_s8_params;

/* x [steps][batches][inputs]; h0: initial state [batches][hidden]. y: receives h8 after each step
 * [steps][batches][hidden], h: the last state. scratch: 13 * hidden bytes. */
void mg_gru_s8(const mg_gru_s8_params *p, const int8_t *x, const mg_s16 *h0, int8_t *y, mg_s16 *h, void *scratch);

#endif /* MCUGEN_GRU_S8_H */
