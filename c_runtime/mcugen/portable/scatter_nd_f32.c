/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/scatter_nd_f32.h"
#include "mcugen/variant.h"

#define MG_KERNEL mg_scatter_nd_f32
#define MG_PARAMS mg_scatter_nd_f32_params
#define MG_STORED mg_f32
#define MG_SUM(a, b) ((a) + (b))
#include "mcugen/scatter_nd_template.h"
#undef MG_KERNEL
#undef MG_PARAMS
#undef MG_STORED
#undef MG_SUM
