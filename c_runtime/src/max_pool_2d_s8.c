/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/filter.h"
#include "mcugen/max_pool_2d_s8.h"
#include "mcugen/pool.h"

typedef int8_t mg_max_pool_2d_s8_x;
typedef int32_t mg_max_pool_2d_s8_acc;

static inline int8_t mg_max_pool_2d_s8_store(const mg_max_pool_2d_s8_params *p, int32_t y)
{
    return (int8_t)mg_clamp(y, p->out_min, p->out_max);
}

#define MG_TYPE max_pool_2d_s8
#include "mcugen/max_pool_2d_template.h"
#undef MG_TYPE
