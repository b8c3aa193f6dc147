/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * depthwise_conv2d_s8__mve -> depthwise_conv2d_s8__mve_linear, LINEAR 0 -> LINEAR 1
 * depthwise_conv2d_s8__mve -> depthwise_conv2d_s8__mve_clamp, LINEAR 0 -> LINEAR 1, CLAMP 0 -> CLAMP 1
 * depthwise_conv2d_s8__mve -> depthwise_conv2d_s8__mve_once, LINEAR 0 -> LINEAR 2
 * depthwise_conv2d_s8__mve -> depthwise_conv2d_s8__mve_once_clamp, LINEAR 0 -> LINEAR 2, CLAMP 0 -> CLAMP 1
 * depthwise_conv2d_s8__mve -> depthwise_conv2d_s8__mve_float, LINEAR 0 -> LINEAR 3, CLAMP 0 -> CLAMP 1
 */
#define MG_KERNEL mg_depthwise_conv2d_s8__mve
#define MG_LINEAR 0
#define MG_CLAMP 0
#include "mcugen/depthwise_conv2d_s8_template__mve.h"
#undef MG_KERNEL
#undef MG_LINEAR
#undef MG_CLAMP
