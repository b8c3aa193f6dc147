/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/depthwise_conv2d_s8w9_line.h"

typedef int8_t mg_depthwise_conv2d_s8w9_line_x;
typedef uint8_t mg_depthwise_conv2d_s8w9_line_w;
typedef int32_t mg_depthwise_conv2d_s8w9_line_acc;

#define MG_TYPE depthwise_conv2d_s8w9_line
#define MG_SYMBOL mg_depthwise_conv2d_s8w9_line
#define MG_NINE
#include "mcugen/filter_line_template.h"
#include "mcugen/depthwise_conv2d_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
#undef MG_NINE
