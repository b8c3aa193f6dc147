/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * s8w16 -> f32, int8_t -> mg_f32, int16_t -> float, int32_t -> float, s8 -> f32
 * s8w16 -> s16, int8_t -> mg_s16, int16 -> int8, s8 -> s16
 * s8w16 -> s8, int16 -> int8
 * s8w16 -> s8w16_line, filter_s8 -> filter_line
 * s8w16 -> s8_line, int16 -> int8, filter_s8 -> filter_line
 * s8w16 -> s16_line, int8_t -> mg_s16, int16 -> int8, filter_s8 -> filter_line
 * s8w16 -> s8w16_single, filter_s8 -> filter_single
 * s8w16 -> s8_single, int16 -> int8, filter_s8 -> filter_single
 */
#include "mcugen/depthwise_conv2d_s8w16.h"

typedef int8_t mg_depthwise_conv2d_s8w16_x;
typedef int16_t mg_depthwise_conv2d_s8w16_w;
typedef int32_t mg_depthwise_conv2d_s8w16_acc;

#define MG_TYPE depthwise_conv2d_s8w16
#define MG_SYMBOL mg_depthwise_conv2d_s8w16
#include "mcugen/filter_s8_template.h"
#include "mcugen/depthwise_conv2d_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
