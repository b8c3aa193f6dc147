/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/fully_connected_s8w9.h"

typedef int8_t mg_fully_connected_s8w9_x;
typedef uint8_t mg_fully_connected_s8w9_w;
typedef int32_t mg_fully_connected_s8w9_acc;

#define MG_TYPE fully_connected_s8w9
#define MG_SYMBOL mg_fully_connected_s8w9
#define MG_NINE
#include "mcugen/fully_connected_s8_finish_template.h"
#include "mcugen/dot_1x4_template.h"
#include "mcugen/fully_connected_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
#undef MG_NINE
