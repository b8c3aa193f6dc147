/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/dsp_lstm_rows_s8.h"
#include "mcugen/dsp_gate_rows.h"
#include "mcugen/dsp_gate_vectors.h"

#define MG_SYMBOL mg_lstm_rows_s8__dsp
#define MG_PARAMS mg_dsp_lstm_rows_s8_params
#include "mcugen/lstm_rows_s8_template.h"
