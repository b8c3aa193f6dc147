/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * mg_lstm_s8 -> mg_lstm_s8_series, lstm_s8.c -> lstm_s8_series.c, SERIES 0 -> SERIES 1
 */
#define MG_SYMBOL mg_lstm_s8
#define MG_SERIES 0
#include "mcugen/lstm_s8_each.h"
