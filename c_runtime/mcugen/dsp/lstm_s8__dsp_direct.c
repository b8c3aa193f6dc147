/* SPDX-License-Identifier: Apache-2.0 */
#define MG_SYMBOL mg_lstm_s8__dsp_direct
#define MG_SERIES 0
#define MG_BYTES 1
#include "mcugen/lstm_s8_pairs.h"
