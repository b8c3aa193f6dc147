/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/scatter_nd_s64.h"
#include "mcugen/variant.h"

#define MG_KERNEL mg_scatter_nd_s64
#define MG_PARAMS mg_scatter_nd_s64_params
#define MG_STORED mg_s64
#define MG_SUM(a, b) (int64_t)((uint64_t)(a) + (uint64_t)(b))
#include "mcugen/scatter_nd_template.h"
#undef MG_KERNEL
#undef MG_PARAMS
#undef MG_STORED
#undef MG_SUM
