/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/average_pool_2d_s8.h"
#include "mcugen/divide.h"
#include "mcugen/filter.h"
#include "mcugen/pool.h"

typedef int8_t mg_average_pool_2d_s8_x;

#define MG_TYPE average_pool_2d_s8
#include "mcugen/average_pool_2d_template.h"
#undef MG_TYPE
