/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/conv2d_s16.h"

typedef mg_conv2d_s16_params mg_conv2d_s16__acc64_params;
typedef mg_s16 mg_conv2d_s16__acc64_x;
typedef int8_t mg_conv2d_s16__acc64_w;
typedef int64_t mg_conv2d_s16__acc64_acc;

#define MG_TYPE conv2d_s16__acc64
#define MG_SYMBOL mg_conv2d_s16__acc64
#include "mcugen/filter_s16_template.h"
#include "mcugen/conv2d_block_template.h"
#include "mcugen/conv2d_rows_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
