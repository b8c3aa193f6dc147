/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/depthwise_conv2d_f32.h"
#include "mcugen/half.h"

typedef mg_depthwise_conv2d_f32_params mg_depthwise_conv2d_f32_halves_params;
typedef mg_f32 mg_depthwise_conv2d_f32_halves_x;
typedef uint16_t mg_depthwise_conv2d_f32_halves_w;
typedef float mg_depthwise_conv2d_f32_halves_acc;

#define MG_TYPE depthwise_conv2d_f32_halves
#define MG_SYMBOL mg_depthwise_conv2d_f32__halves
#define MG_HALVES
#include "mcugen/filter_f32_template.h"
#include "mcugen/depthwise_conv2d_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
#undef MG_HALVES
