/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/fully_connected_f32.h"

typedef mg_f32 mg_fully_connected_f32_x;
typedef float mg_fully_connected_f32_w;
typedef float mg_fully_connected_f32_acc;

#define MG_TYPE fully_connected_f32
#define MG_SYMBOL mg_fully_connected_f32
#include "mcugen/filter_f32_template.h"
#include "mcugen/fully_connected_f32_finish_template.h"
#include "mcugen/dot_1x4_template.h"
#include "mcugen/fully_connected_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
