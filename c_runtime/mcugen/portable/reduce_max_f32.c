/* SPDX-License-Identifier: Apache-2.0 */
/* Copies:
 * f32 -> s16
 * f32 -> s8, mg_f32 -> int8_t
 */
#include "mcugen/reduce_max_f32.h"
#include "mcugen/variant.h"

#define MG_KERNEL mg_reduce_max_f32
#define MG_PARAMS mg_reduce_max_f32_params
#define MG_STORED mg_f32
#define MG_BEFORE(a, b) ((a) > (b))
#include "mcugen/reduce_extreme_template.h"
#undef MG_KERNEL
#undef MG_PARAMS
#undef MG_STORED
#undef MG_BEFORE
