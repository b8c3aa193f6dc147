/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/fully_connected_s8.h"

typedef int8_t mg_fully_connected_s8_x;
typedef int8_t mg_fully_connected_s8_w;
typedef int32_t mg_fully_connected_s8_acc;

#define MG_TYPE fully_connected_s8
#define MG_SYMBOL mg_fully_connected_s8
#include "mcugen/fully_connected_s8_finish_template.h"
#include "mcugen/dot_1x4_template.h"
#include "mcugen/fully_connected_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
