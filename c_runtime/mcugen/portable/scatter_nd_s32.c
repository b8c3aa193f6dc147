/* SPDX-License-Identifier: Apache-2.0 */
/* Copies:
 * s32 -> s64, int32 -> int64, uint32 -> uint64
 */
#include "mcugen/scatter_nd_s32.h"
#include "mcugen/variant.h"

#define MG_KERNEL mg_scatter_nd_s32
#define MG_PARAMS mg_scatter_nd_s32_params
#define MG_STORED mg_s32
#define MG_SUM(a, b) (int32_t)((uint32_t)(a) + (uint32_t)(b))
#include "mcugen/scatter_nd_template.h"
#undef MG_KERNEL
#undef MG_PARAMS
#undef MG_STORED
#undef MG_SUM
