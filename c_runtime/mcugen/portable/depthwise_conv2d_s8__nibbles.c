/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * s8 -> s8_line, filter_s8 -> filter_line
 */
#include "mcugen/depthwise_conv2d_s8.h"

typedef mg_depthwise_conv2d_s8_params mg_depthwise_conv2d_s8_nibbles_params;
typedef int8_t mg_depthwise_conv2d_s8_nibbles_x;
typedef int8_t mg_depthwise_conv2d_s8_nibbles_w;
typedef int32_t mg_depthwise_conv2d_s8_nibbles_acc;

#define MG_TYPE depthwise_conv2d_s8_nibbles
#define MG_SYMBOL mg_depthwise_conv2d_s8__nibbles
#define MG_NIBBLES
#include "mcugen/filter_s8_template.h"
#include "mcugen/depthwise_conv2d_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
#undef MG_NIBBLES
