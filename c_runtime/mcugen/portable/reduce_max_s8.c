/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/reduce_max_s8.h"
#include "mcugen/variant.h"

#define MG_KERNEL mg_reduce_max_s8
#define MG_PARAMS mg_reduce_max_s8_params
#define MG_STORED int8_t
#define MG_BEFORE(a, b) ((a) > (b))
#include "mcugen/reduce_extreme_template.h"
#undef MG_KERNEL
#undef MG_PARAMS
#undef MG_STORED
#undef MG_BEFORE
