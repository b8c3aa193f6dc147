/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * s8__nibbles -> f32__halves, s8_nibbles -> f32_halves
 * s8 -> s8_line
 */
#include "mcugen/conv2d_s8_nibbles_block.h"

#define MG_TYPE conv2d_s8_nibbles
#define MG_SYMBOL mg_conv2d_s8__nibbles
#include "mcugen/conv2d_rows_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
