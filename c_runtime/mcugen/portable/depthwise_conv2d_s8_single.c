/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/depthwise_conv2d_s8_single.h"

typedef int8_t mg_depthwise_conv2d_s8_single_x;
typedef int8_t mg_depthwise_conv2d_s8_single_w;
typedef int32_t mg_depthwise_conv2d_s8_single_acc;

#define MG_TYPE depthwise_conv2d_s8_single
#define MG_SYMBOL mg_depthwise_conv2d_s8_single
#include "mcugen/filter_single_template.h"
#include "mcugen/depthwise_conv2d_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
