/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/nibble_gru_s8.h"
#include "mcugen/nibble_gate_vectors.h"

#define MG_SYMBOL mg_gru_s8__nibbles
#define MG_PARAMS mg_nibble_gru_s8_params
#include "mcugen/gru_s8_template.h"
