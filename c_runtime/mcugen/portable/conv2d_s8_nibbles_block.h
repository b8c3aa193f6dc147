/* SPDX-License-Identifier: Apache-2.0
 *
 * The inner part of the convolutions of conv2d_s8.h with weights of 4 bits.
 */
/* Copies of this file, one a line, with these words replaced:
 * s8 -> s8_line, filter_s8 -> filter_line
 */
#ifndef MCUGEN_CONV2D_S8_NIBBLES_BLOCK_H
#define MCUGEN_CONV2D_S8_NIBBLES_BLOCK_H

#include "mcugen/conv2d_s8.h"

typedef mg_conv2d_s8_params mg_conv2d_s8_nibbles_params;
typedef int8_t mg_conv2d_s8_nibbles_x;
typedef int8_t mg_conv2d_s8_nibbles_w;
typedef int32_t mg_conv2d_s8_nibbles_acc;

#define MG_TYPE conv2d_s8_nibbles
#define MG_NIBBLES
#include "mcugen/filter_s8_template.h"
#include "mcugen/conv2d_block_template.h"
#undef MG_TYPE
#undef MG_NIBBLES

#endif /* MCUGEN_CONV2D_S8_NIBBLES_BLOCK_H */
