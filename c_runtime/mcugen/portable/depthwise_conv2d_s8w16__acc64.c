/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * s8w16 -> s16, int8_t -> mg_s16, int16 -> int8, s8 -> s16
 * s8w16 -> s8, int16 -> int8
 */
#include "mcugen/depthwise_conv2d_s8w16.h"

typedef mg_depthwise_conv2d_s8w16_params mg_depthwise_conv2d_s8w16__acc64_params;
typedef int8_t mg_depthwise_conv2d_s8w16__acc64_x;
typedef int16_t mg_depthwise_conv2d_s8w16__acc64_w;
typedef int64_t mg_depthwise_conv2d_s8w16__acc64_acc;

#define MG_TYPE depthwise_conv2d_s8w16__acc64
#define MG_SYMBOL mg_depthwise_conv2d_s8w16__acc64
#include "mcugen/filter_s8_template.h"
#include "mcugen/depthwise_conv2d_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
