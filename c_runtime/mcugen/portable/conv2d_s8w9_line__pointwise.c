/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/conv2d_s8w9_line_block.h"

#define MG_TYPE conv2d_s8w9_line
#define MG_SYMBOL mg_conv2d_s8w9_line__pointwise
#include "mcugen/conv2d_pointwise_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
