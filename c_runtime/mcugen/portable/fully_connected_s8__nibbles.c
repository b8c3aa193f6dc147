/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/fully_connected_s8.h"

typedef mg_fully_connected_s8_params mg_fully_connected_s8_nibbles_params;
typedef int8_t mg_fully_connected_s8_nibbles_x;
typedef int8_t mg_fully_connected_s8_nibbles_w;
typedef int32_t mg_fully_connected_s8_nibbles_acc;

#define MG_TYPE fully_connected_s8_nibbles
#define MG_SYMBOL mg_fully_connected_s8__nibbles
#define MG_NIBBLES
#include "mcugen/fully_connected_s8_finish_template.h"
#include "mcugen/dot_1x4_template.h"
#include "mcugen/fully_connected_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
#undef MG_NIBBLES
