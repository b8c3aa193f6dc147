/* SPDX-License-Identifier: Apache-2.0 */
#define MG_KERNEL mg_depthwise_conv2d_s8__mve_float
#define MG_LINEAR 3
#define MG_CLAMP 1
#include "mcugen/depthwise_conv2d_s8_template__mve.h"
#undef MG_KERNEL
#undef MG_LINEAR
#undef MG_CLAMP
