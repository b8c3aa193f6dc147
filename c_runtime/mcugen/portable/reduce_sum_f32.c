/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/reduce_sum_f32.h"
#include "mcugen/variant.h"

#define MG_KERNEL mg_reduce_sum_f32
#define MG_PARAMS mg_reduce_sum_f32_params
#define MG_STORED mg_f32
#define MG_SUM float
#define MG_STORE mg_reduce_sum_f32_store
#include "mcugen/reduce_sum_template.h"
#undef MG_KERNEL
#undef MG_PARAMS
#undef MG_STORED
#undef MG_SUM
#undef MG_STORE
