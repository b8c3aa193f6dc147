/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/conv2d_f32__mve.h"

#include "mcugen/columns.h"
#include "mcugen/f32_block__mve.h"
#include "mcugen/half.h"

#define MG_TYPE halves_mve
#define MG_HALVES
#define MG_ROW mg_conv2d_f32__mve_halves
#define MG_RUN mg_conv2d_f32__mve_halves_pointwise
#include "mcugen/conv2d_f32__mve_rows_template.h"
#undef MG_TYPE
#undef MG_HALVES
#undef MG_ROW
#undef MG_RUN
