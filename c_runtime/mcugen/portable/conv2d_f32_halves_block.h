/* SPDX-License-Identifier: Apache-2.0
 *
 * The inner part of the convolutions of conv2d_f32.h with weights of float16.
 */
#ifndef MCUGEN_CONV2D_F32_HALVES_BLOCK_H
#define MCUGEN_CONV2D_F32_HALVES_BLOCK_H

#include "mcugen/conv2d_f32.h"
#include "mcugen/half.h"

typedef mg_conv2d_f32_params mg_conv2d_f32_halves_params;
typedef mg_f32 mg_conv2d_f32_halves_x;
typedef uint16_t mg_conv2d_f32_halves_w;
typedef float mg_conv2d_f32_halves_acc;

#define MG_TYPE conv2d_f32_halves
#define MG_HALVES
#include "mcugen/filter_f32_template.h"
#include "mcugen/conv2d_block_template.h"
#undef MG_TYPE
#undef MG_HALVES

#endif /* MCUGEN_CONV2D_F32_HALVES_BLOCK_H */
