/* SPDX-License-Identifier: Apache-2.0
 *
 * LSTM layer on int8 data with an int16 state and an int16 cell, step by step. Rows of weights have scales of their own.
 *
 *   sum = clamp(saturate16((w_bias + W x) scaled) + saturate16((r_bias + R h8) scaled))   h8: the upper byte of h
 *   i, o, f = logistic(sum), g = tanh(sum)
 *   c = saturate16(f * c + i * g)
 *   h = o * tanh(c)                        y = h8
 *
 * Values of gates and h have 15 fraction bits, sums of gates 12 or less: times `factor`, they are in steps of
 * 1 / (3 * 4096). Each line is rounded once, halves up.
 *
 * w, r      weights of the data [4][hidden][inputs] and of the state [4][hidden][hidden]; gates in the order i, o, f, g
 * cell_factor, cell_half, cell_right  (c * cell_factor + cell_half) >> cell_right is c in steps of 1 / (3 * 4096)
 * enter     the right shift that brings i * g to steps of c, 15 to 29
 * Other fields: MG_GATE_FIELDS in gates_s16.h.
 */
#ifndef MCUGEN_LSTM_ROWS_S8_H
#define MCUGEN_LSTM_ROWS_S8_H

#include "mcugen/gates_s16.h"

typedef struct {
    const int8_t *w, *r;
    MG_GATE_FIELDS
    int32_t cell_factor, cell_half;
    uint8_t w_left, r_left, cell_right, enter;
} mg_lstm_rows_s8_params;

/* x [steps][batches][inputs]; h0, c0: initial state and cell [batches][hidden]. y: receives h8 after each step
 * [steps][batches][hidden]; h, c: the last state and cell. scratch: 17 * hidden bytes. */
void mg_lstm_rows_s8(const mg_lstm_rows_s8_params *p, const int8_t *x, const mg_s16 *h0, const mg_s16 *c0, int8_t *y,
                     mg_s16 *h, mg_s16 *c, void *scratch);

#endif /* MCUGEN_LSTM_ROWS_S8_H */
