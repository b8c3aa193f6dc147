/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/half.h"
#include "mcugen/quads_f32.h"

#include "mcugen/quads_four.h"

#define MG_TYPE quads_halves
#define MG_HALVES
#define MG_ROW mg_conv2d_f32__quads_halves
#define MG_DEPTHWISE mg_depthwise_conv2d_f32__quads_halves
#define MG_RUN mg_conv2d_f32__quads_halves_pointwise
#define MG_VECTOR mg_fully_connected_f32__eights_halves
#include "mcugen/quads_rows_template.h"
#undef MG_TYPE
#undef MG_HALVES
#undef MG_ROW
#undef MG_DEPTHWISE
#undef MG_RUN
#undef MG_VECTOR
