/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/depthwise_conv2d_f32.h"

typedef mg_f32 mg_depthwise_conv2d_f32_x;
typedef float mg_depthwise_conv2d_f32_w;
typedef float mg_depthwise_conv2d_f32_acc;

#define MG_TYPE depthwise_conv2d_f32
#define MG_SYMBOL mg_depthwise_conv2d_f32
#include "mcugen/filter_f32_template.h"
#include "mcugen/depthwise_conv2d_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
