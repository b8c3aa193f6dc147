/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/conv2d_f32_halves_block.h"

#define MG_TYPE conv2d_f32_halves
#define MG_SYMBOL mg_conv2d_f32__halves_pointwise
#include "mcugen/conv2d_pointwise_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
