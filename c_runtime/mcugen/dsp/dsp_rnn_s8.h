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

#include "mcugen/little_endian.h"
#include "mcugen/runtime.h"

typedef struct {
    const int32_t *w, *r;
    const int32_t *w_bias, *r_bias, *w_mult, *r_mult;
    const uint8_t *w_shift, *r_shift;
    const uint16_t *table;
    uint32_t steps, batches, inputs, hidden;
    int32_t factor, low, high;
    uint8_t w_left, r_left, kind;
} mg_dsp_rnn_s8_params;

void mg_rnn_s8__dsp(const mg_dsp_rnn_s8_params *p, const int8_t *x, const mg_s16 *h0, int8_t *y, mg_s16 *h,
                    void *scratch);

#endif /* MCUGEN_DSP_RNN_S8_H */
