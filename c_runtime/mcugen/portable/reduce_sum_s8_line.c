/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/reduce_sum_s8_line.h"
#include "mcugen/variant.h"

#define MG_KERNEL mg_reduce_sum_s8_line
#define MG_PARAMS mg_reduce_sum_s8_line_params
#define MG_STORED int8_t
#define MG_SUM int32_t
#define MG_STORE mg_reduce_sum_s8_line_store
#include "mcugen/reduce_sum_template.h"
#undef MG_KERNEL
#undef MG_PARAMS
#undef MG_STORED
#undef MG_SUM
#undef MG_STORE
