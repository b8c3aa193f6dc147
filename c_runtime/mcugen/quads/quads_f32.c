/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/quads_f32.h"

#include "mcugen/quads_four.h"

#define MG_TYPE quads_f32
#define MG_ROW mg_conv2d_f32__quads
#define MG_DEPTHWISE mg_depthwise_conv2d_f32__quads
#define MG_RUN mg_conv2d_f32__quads_pointwise
#define MG_VECTOR mg_fully_connected_f32__eights
#include "mcugen/quads_rows_template.h"
#undef MG_TYPE
#undef MG_ROW
#undef MG_DEPTHWISE
#undef MG_RUN
#undef MG_VECTOR
