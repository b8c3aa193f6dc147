/* SPDX-License-Identifier: Apache-2.0 */
/* Copies:
 * s8w16 -> s16, int8_t -> mg_s16, int16 -> int8
 * s8w16 -> s8, int16 -> int8
 * s8w16_line -> s8_single, int16 -> int8, line -> single
 * line -> single
 */
#include "mcugen/depthwise_conv2d_s8w16_line.h"

typedef int8_t mg_depthwise_conv2d_s8w16_line_x;
typedef int16_t mg_depthwise_conv2d_s8w16_line_w;
typedef int32_t mg_depthwise_conv2d_s8w16_line_acc;

#define MG_TYPE depthwise_conv2d_s8w16_line
#define MG_SYMBOL mg_depthwise_conv2d_s8w16_line
#include "mcugen/filter_line_template.h"
#include "mcugen/depthwise_conv2d_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
