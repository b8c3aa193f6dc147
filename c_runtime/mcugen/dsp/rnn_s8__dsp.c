/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/dsp_rnn_s8.h"
#include "mcugen/dsp_gate_rows.h"
#include "mcugen/dsp_gate_vectors.h"

#define MG_SYMBOL mg_rnn_s8__dsp
#define MG_PARAMS mg_dsp_rnn_s8_params
#include "mcugen/rnn_s8_template.h"
