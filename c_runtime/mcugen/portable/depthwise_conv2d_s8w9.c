/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * s8w9 -> s8w9_line, filter_s8 -> filter_line
 */
#include "mcugen/depthwise_conv2d_s8w9.h"

typedef int8_t mg_depthwise_conv2d_s8w9_x;
typedef uint8_t mg_depthwise_conv2d_s8w9_w;
typedef int32_t mg_depthwise_conv2d_s8w9_acc;

#define MG_TYPE depthwise_conv2d_s8w9
#define MG_SYMBOL mg_depthwise_conv2d_s8w9
#define MG_NINE
#include "mcugen/filter_s8_template.h"
#include "mcugen/depthwise_conv2d_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
#undef MG_NINE
