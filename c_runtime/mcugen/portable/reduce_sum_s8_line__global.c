/* SPDX-License-Identifier: Apache-2.0 */
/* Copies:
 * s8_line -> f32, int8_t -> mg_f32, s32 -> f32, s8 -> f32
 * s8_line -> s16, int8_t -> mg_s16, s8 -> s16
 * s8_line -> s8
 */
#include "mcugen/column_sums.h"
#include "mcugen/reduce_sum_s8_line.h"
#include "mcugen/variant.h"

#define MG_KERNEL mg_reduce_sum_s8_line__global
#define MG_PARAMS mg_reduce_sum_s8_line_params
#define MG_STORED int8_t
#define MG_SUMS mg_s32
#define MG_ADD mg_add_columns_s8
#define MG_STORE mg_reduce_sum_s8_line_store
#include "mcugen/reduce_sum_global_template.h"
#undef MG_KERNEL
#undef MG_PARAMS
#undef MG_STORED
#undef MG_SUMS
#undef MG_ADD
#undef MG_STORE
