/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/depthwise_conv2d_s8.h"

typedef int8_t mg_depthwise_conv2d_s8_x;
typedef int8_t mg_depthwise_conv2d_s8_w;
typedef int32_t mg_depthwise_conv2d_s8_acc;

#define MG_TYPE depthwise_conv2d_s8
#define MG_SYMBOL mg_depthwise_conv2d_s8
#include "mcugen/filter_s8_template.h"
#include "mcugen/depthwise_conv2d_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
