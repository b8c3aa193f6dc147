/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * dense_s8__mve -> dense_s8__mve_long, LONG 0 -> LONG 1
 * dense_s8__mve -> dense_s8__mve_linear, LINEAR 0 -> LINEAR 1
 * dense_s8__mve -> dense_s8__mve_linear_long, LINEAR 0 -> LINEAR 1, LONG 0 -> LONG 1
 * dense_s8__mve -> dense_s8__mve_clamp, LINEAR 0 -> LINEAR 1, CLAMP 0 -> CLAMP 1
 * dense_s8__mve -> dense_s8__mve_clamp_long, LINEAR 0 -> LINEAR 1, CLAMP 0 -> CLAMP 1, LONG 0 -> LONG 1
 * dense_s8__mve -> dense_s8__mve_once, LINEAR 0 -> LINEAR 2
 * dense_s8__mve -> dense_s8__mve_once_long, LINEAR 0 -> LINEAR 2, LONG 0 -> LONG 1
 * dense_s8__mve -> dense_s8__mve_once_clamp, LINEAR 0 -> LINEAR 2, CLAMP 0 -> CLAMP 1
 * dense_s8__mve -> dense_s8__mve_once_clamp_long, LINEAR 0 -> LINEAR 2, CLAMP 0 -> CLAMP 1, LONG 0 -> LONG 1
 * dense_s8__mve -> dense_s8__mve_float, LINEAR 0 -> LINEAR 3, CLAMP 0 -> CLAMP 1
 * dense_s8__mve -> dense_s8__mve_float_long, LINEAR 0 -> LINEAR 3, CLAMP 0 -> CLAMP 1, LONG 0 -> LONG 1
 */
#define MG_KERNEL mg_dense_s8__mve
#define MG_LINEAR 0
#define MG_CLAMP 0
#define MG_LONG 0
#include "mcugen/dense_s8_template__mve.h"
#undef MG_KERNEL
#undef MG_LINEAR
#undef MG_CLAMP
#undef MG_LONG
