/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/scatter_nd_s8.h"
#include "mcugen/variant.h"

#define MG_KERNEL mg_scatter_nd_s8
#define MG_PARAMS mg_scatter_nd_s8_params
#define MG_STORED int8_t
#define MG_SUM(a, b) (int8_t)((a) + (b))
#include "mcugen/scatter_nd_template.h"
#undef MG_KERNEL
#undef MG_PARAMS
#undef MG_STORED
#undef MG_SUM
