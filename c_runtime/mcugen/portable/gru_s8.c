/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/gru_s8.h"
#include "mcugen/gate_vectors.h"

#define MG_SYMBOL mg_gru_s8
#define MG_PARAMS mg_gru_s8_params
#include "mcugen/gru_s8_template.h"
