/* SPDX-License-Identifier: Apache-2.0
 *
 * LSTM layer on int16 data; see lstm_s8.h. Sums have 64 bits, and are scaled by 16-bit multipliers and rounded once.
 * Equals TensorFlow Lite Micro.
 */
#ifndef MCUGEN_LSTM_S16_H
#define MCUGEN_LSTM_S16_H

#include "mcugen/filter.h"

typedef struct {
    const int8_t *w, *r;
    const int64_t *w_bias, *r_bias;
    const uint16_t *table;
    int32_t w_mult[4], r_mult[4];
    int32_t h_mult;
    uint32_t steps, batches, inputs, hidden, step_in, batch_in, step_out, batch_out;
    int16_t clip, h_zero_point;
    int8_t w_shift[4], r_shift[4];
    int8_t h_shift, cell_shift;
} mg_lstm_s16_params;

/* h0, c0: initial state and cell, [batches][hidden]. c: receives the last cell, may be equal to c0. y: receives the
 * state after each step. scratch: not used. */
void mg_lstm_s16(const mg_lstm_s16_params *p, const mg_s16 *x, const mg_s16 *h0, const mg_s16 *c0, mg_s16 *c, mg_s16 *y,
                 void *scratch);

#endif /* MCUGEN_LSTM_S16_H */
