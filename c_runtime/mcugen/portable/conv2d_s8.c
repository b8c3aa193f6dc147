/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * s8 -> f32
 * s8 -> s16
 * s8 -> s16_line
 * s8 -> s8_line
 * s8 -> s8_single
 * s8 -> s8w16
 * s8 -> s8w16_line
 * s8 -> s8w16_single
 * s8 -> s8w9
 * s8 -> s8w9_line
 */
#include "mcugen/conv2d_s8_block.h"

#define MG_TYPE conv2d_s8
#define MG_SYMBOL mg_conv2d_s8
#include "mcugen/conv2d_rows_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
