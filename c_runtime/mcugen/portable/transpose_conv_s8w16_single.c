/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/transpose_conv_s8w16_single.h"

typedef int8_t mg_transpose_conv_s8w16_single_x;
typedef int16_t mg_transpose_conv_s8w16_single_w;
typedef int32_t mg_transpose_conv_s8w16_single_acc;

#define MG_TYPE transpose_conv_s8w16_single
#define MG_SYMBOL mg_transpose_conv_s8w16_single
#include "mcugen/filter_single_template.h"
#include "mcugen/dot_1x4_template.h"
#include "mcugen/transpose_conv_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
