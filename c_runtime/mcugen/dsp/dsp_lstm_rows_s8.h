/* SPDX-License-Identifier: Apache-2.0
 *
 * LSTM layer of lstm_rows_s8.h on cores with SMLAD.
 *
 * w, r     quads of rows, see dsp_gate_rows.h. Constants of rows are padded to quads too.
 * scratch  16 * hidden bytes, and the state and the data in int16, each padded to four elements
 * Other fields: see lstm_rows_s8.h.
 */
#ifndef MCUGEN_DSP_LSTM_ROWS_S8_H
#define MCUGEN_DSP_LSTM_ROWS_S8_H

#include "mcugen/gates_s16.h"
#include "mcugen/little_endian.h"

typedef struct {
    const int32_t *w, *r;
    MG_GATE_FIELDS
    int32_t cell_factor, cell_half;
    uint8_t w_left, r_left, cell_right, enter;
} mg_dsp_lstm_rows_s8_params;

void mg_lstm_rows_s8__dsp(const mg_dsp_lstm_rows_s8_params *p, const int8_t *x, const mg_s16 *h0, const mg_s16 *c0,
                          int8_t *y, mg_s16 *h, mg_s16 *c, void *scratch);

#endif /* MCUGEN_DSP_LSTM_ROWS_S8_H */
