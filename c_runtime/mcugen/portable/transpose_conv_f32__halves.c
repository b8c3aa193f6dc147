/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/transpose_conv_f32.h"
#include "mcugen/half.h"

typedef mg_transpose_conv_f32_params mg_transpose_conv_f32_halves_params;
typedef mg_f32 mg_transpose_conv_f32_halves_x;
typedef uint16_t mg_transpose_conv_f32_halves_w;
typedef float mg_transpose_conv_f32_halves_acc;

#define MG_TYPE transpose_conv_f32_halves
#define MG_SYMBOL mg_transpose_conv_f32__halves
#define MG_HALVES
#include "mcugen/filter_f32_template.h"
#include "mcugen/dot_1x4_template.h"
#include "mcugen/transpose_conv_template.h"
#undef MG_TYPE
#undef MG_SYMBOL
#undef MG_HALVES
