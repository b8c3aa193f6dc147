/* SPDX-License-Identifier: Apache-2.0
 *
 * The layer of lstm_s8.h on cores with SMLAD: a unit's four gates at a time.
 *
 * w, r     for each unit, for each four taps: a word of each gate, its four taps in order; taps beyond the vector are 0
 * sums     are below 2^30, also where they are shifted to the left: proved when the code is generated
 * scratch  the data and the state widened to int16, each in groups of four in the order 0, 2, 1, 3; _direct functions leave
 *          it alone and widen bytes as they read them, for each unit
 */
#ifndef MCUGEN_DSP_LSTM_S8_H
#define MCUGEN_DSP_LSTM_S8_H

#include "mcugen/little_endian.h"
#include "mcugen/runtime.h"

typedef struct {
    const int32_t *w, *r;
    const int32_t *w_bias, *r_bias;
    const uint16_t *table;
    int32_t w_mult[4], r_mult[4];
    int32_t h_mult;
    uint32_t steps, batches, inputs, hidden, step_in, batch_in, step_out, batch_out;
    int16_t clip, h_zero_point;
    int8_t w_shift[4], r_shift[4];
    int8_t h_shift, cell_shift;
} mg_dsp_lstm_s8_params;

void mg_lstm_s8__dsp(const mg_dsp_lstm_s8_params *p, const int8_t *x, const int8_t *h0, const mg_s16 *c0, mg_s16 *c,
                     int8_t *y, void *scratch);
void mg_lstm_s8__dsp_direct(const mg_dsp_lstm_s8_params *p, const int8_t *x, const int8_t *h0, const mg_s16 *c0,
                            mg_s16 *c, int8_t *y, void *scratch);
void mg_lstm_s8_series__dsp(const mg_dsp_lstm_s8_params *p, const int8_t *x, const int8_t *h0, const mg_s16 *c0,
                            mg_s16 *c, int8_t *y, void *scratch);
void mg_lstm_s8_series__dsp_direct(const mg_dsp_lstm_s8_params *p, const int8_t *x, const int8_t *h0,
                                   const mg_s16 *c0, mg_s16 *c, int8_t *y, void *scratch);

#endif /* MCUGEN_DSP_LSTM_S8_H */
