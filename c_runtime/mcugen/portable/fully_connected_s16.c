/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * s16 -> f32, int8_t -> float, int32_t -> float
 */
#include "mcugen/fully_connected_s16.h"

typedef mg_s16 mg_fully_connected_s16_x;
typedef int8_t mg_fully_connected_s16_w;
typedef int32_t mg_fully_connected_s16_acc;

#define MG_TYPE fully_connected_s16
#define MG_SYMBOL mg_fully_connected_s16
#include "mcugen/filter_s16_template.h"
#include "mcugen/fully_connected_s16_finish_template.h"
#include "mcugen/dot_1x4_template.h"
#include "mcugen/fully_connected_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
