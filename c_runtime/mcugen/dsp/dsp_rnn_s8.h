/* SPDX-License-Identifier: Apache-2.0
 *
 * Recurrent layer of rnn_s8.h on cores with SMLAD.
 *
 * w, r     quads of rows, see dsp_gate_rows.h. Constants of rows are padded to quads too.
 * scratch  4 * hidden bytes, and the state and the data in int16, each padded to four elements
 * Other fields: see rnn_s8.h.
 */
#ifndef MCUGEN_DSP_RNN_S8_H
#define MCUGEN_DSP_RNN_S8_H

#include "mcugen/gates_s16.h"
#include "mcugen/little_endian.h"

typedef struct {
    const int32_t *w, *r;
    MG_GATE_FIELDS
    uint8_t w_left, r_left, kind;
} mg_dsp_rnn_s8_params;

void mg_rnn_s8__dsp(const mg_dsp_rnn_s8_params *p, const int8_t *x, const mg_s16 *h0, int8_t *y, mg_s16 *h,
                    void *scratch);

#endif /* MCUGEN_DSP_RNN_S8_H */
