/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/depthwise_conv2d_s8_line.h"

typedef mg_depthwise_conv2d_s8_line_params mg_depthwise_conv2d_s8_line_nibbles_params;
typedef int8_t mg_depthwise_conv2d_s8_line_nibbles_x;
typedef int8_t mg_depthwise_conv2d_s8_line_nibbles_w;
typedef int32_t mg_depthwise_conv2d_s8_line_nibbles_acc;

#define MG_TYPE depthwise_conv2d_s8_line_nibbles
#define MG_SYMBOL mg_depthwise_conv2d_s8_line__nibbles
#define MG_NIBBLES
#include "mcugen/filter_line_template.h"
#include "mcugen/depthwise_conv2d_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
#undef MG_NIBBLES
