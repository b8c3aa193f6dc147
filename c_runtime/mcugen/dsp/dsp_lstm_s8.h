/* SPDX-License-Identifier: Apache-2.0
 *
 * LSTM layer of lstm_s8.h on cores with SMLAD: the four gates of a unit are computed together.
 *
 * w, r     per unit and four taps: a word of each gate, its four taps in order; the last group is padded with zeros
 * sums     stay below 2^30, even when they are shifted to the left: proved when the code is generated
 * scratch  the input and the state widened to int16, each group of four in the order 0, 2, 1, 3. The _direct functions
 *          use no scratch: they widen the bytes again for each unit
 * Other fields: see lstm_s8.h.
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
