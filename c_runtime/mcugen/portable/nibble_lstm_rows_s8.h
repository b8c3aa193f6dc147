/* SPDX-License-Identifier: Apache-2.0
 *
 * The LSTM layer of lstm_rows_s8.h with weights of 4 bits: two to a byte, the first in the lower half; rows begin new bytes.
 */
#ifndef MCUGEN_NIBBLE_LSTM_ROWS_S8_H
#define MCUGEN_NIBBLE_LSTM_ROWS_S8_H

#include "mcugen/lstm_rows_s8.h"

typedef mg_lstm_rows_s8_params mg_nibble_lstm_rows_s8_params;

void mg_lstm_rows_s8__nibbles(const mg_nibble_lstm_rows_s8_params *p, const int8_t *x, const mg_s16 *h0, const mg_s16 *c0, int8_t *y, mg_s16 *h, mg_s16 *c,
                              void *scratch);

#endif /* MCUGEN_NIBBLE_LSTM_ROWS_S8_H */
