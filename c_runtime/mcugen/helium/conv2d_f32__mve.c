/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/conv2d_f32__mve.h"

#include "mcugen/columns.h"
#include "mcugen/f32_block__mve.h"

#define MG_TYPE f32_mve
#define MG_ROW mg_conv2d_f32__mve
#define MG_RUN mg_conv2d_f32__mve_pointwise
#include "mcugen/conv2d_f32__mve_rows_template.h"
#undef MG_TYPE
#undef MG_ROW
#undef MG_RUN
