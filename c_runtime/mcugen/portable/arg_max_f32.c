/* SPDX-License-Identifier: Apache-2.0 */
/* Copies:
 * f32 -> s32, float -> int32_t
 */
#include "mcugen/arg_max_f32.h"
#include "mcugen/variant.h"

#define MG_KERNEL mg_arg_max_f32
#define MG_PARAMS mg_arg_max_f32_params
#define MG_DATA mg_f32
#define MG_STORED mg_f32
#define MG_VALUE float
#include "mcugen/arg_max_template.h"
#undef MG_KERNEL
#undef MG_PARAMS
#undef MG_DATA
#undef MG_STORED
#undef MG_VALUE
