/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * dsp -> dsp_direct, BYTES 0 -> BYTES 1
 * s8__dsp -> s8_series__dsp_direct, SERIES 0 -> SERIES 1, BYTES 0 -> BYTES 1
 * lstm_s8__dsp -> lstm_s8_series__dsp, SERIES 0 -> SERIES 1
 */
#define MG_SYMBOL mg_lstm_s8__dsp
#define MG_SERIES 0
#define MG_BYTES 0
#include "mcugen/lstm_s8_pairs.h"
