/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/arg_max_s8.h"
#include "mcugen/variant.h"

#define MG_KERNEL mg_arg_max_s8
#define MG_PARAMS mg_arg_max_s8_params
#define MG_DATA void
#define MG_STORED int8_t
#define MG_VALUE int32_t
#include "mcugen/arg_max_template.h"
#undef MG_KERNEL
#undef MG_PARAMS
#undef MG_DATA
#undef MG_STORED
#undef MG_VALUE
