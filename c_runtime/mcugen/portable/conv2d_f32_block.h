/* SPDX-License-Identifier: Apache-2.0
 *
 * The inner part of the convolutions of float.
 */
#ifndef MCUGEN_CONV2D_F32_BLOCK_H
#define MCUGEN_CONV2D_F32_BLOCK_H

#include "mcugen/conv2d_f32.h"

typedef mg_f32 mg_conv2d_f32_x;
typedef float mg_conv2d_f32_w;
typedef float mg_conv2d_f32_acc;

#define MG_TYPE conv2d_f32
#include "mcugen/filter_f32_template.h"
#include "mcugen/conv2d_block_template.h"
#undef MG_TYPE

#endif /* MCUGEN_CONV2D_F32_BLOCK_H */
