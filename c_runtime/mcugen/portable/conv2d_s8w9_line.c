/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/conv2d_s8w9_line_block.h"

#define MG_TYPE conv2d_s8w9_line
#define MG_SYMBOL mg_conv2d_s8w9_line
#include "mcugen/conv2d_rows_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
