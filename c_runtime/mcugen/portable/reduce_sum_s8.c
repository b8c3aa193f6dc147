/* SPDX-License-Identifier: Apache-2.0 */
/* Copies:
 * s8 -> f32, int8_t -> mg_f32, int32_t -> float
 * s8 -> s16, int8_t -> mg_s16
 * s8 -> s8_line
 */
#include "mcugen/reduce_sum_s8.h"
#include "mcugen/variant.h"

#define MG_KERNEL mg_reduce_sum_s8
#define MG_PARAMS mg_reduce_sum_s8_params
#define MG_STORED int8_t
#define MG_SUM int32_t
#define MG_STORE mg_reduce_sum_s8_store
#include "mcugen/reduce_sum_template.h"
#undef MG_KERNEL
#undef MG_PARAMS
#undef MG_STORED
#undef MG_SUM
#undef MG_STORE
