/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/rnn_s8.h"
#include "mcugen/gate_vectors.h"

#define MG_SYMBOL mg_rnn_s8
#define MG_PARAMS mg_rnn_s8_params
#include "mcugen/rnn_s8_template.h"
