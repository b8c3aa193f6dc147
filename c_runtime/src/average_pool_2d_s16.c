/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/average_pool_2d_s16.h"
#include "mcugen/divide.h"
#include "mcugen/filter.h"
#include "mcugen/pool.h"

typedef mg_s16 mg_average_pool_2d_s16_x;

#define MG_TYPE average_pool_2d_s16
#include "mcugen/average_pool_2d_template.h"
#undef MG_TYPE
