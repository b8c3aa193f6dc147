/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/transpose_conv_s8_line.h"

typedef int8_t mg_transpose_conv_s8_line_x;
typedef int8_t mg_transpose_conv_s8_line_w;
typedef int32_t mg_transpose_conv_s8_line_acc;

#define MG_TYPE transpose_conv_s8_line
#define MG_SYMBOL mg_transpose_conv_s8_line
#include "mcugen/filter_line_template.h"
#include "mcugen/dot_1x4_template.h"
#include "mcugen/transpose_conv_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
