/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/filter.h"
#include "mcugen/max_pool_2d_f32.h"
#include "mcugen/pool.h"

typedef mg_f32 mg_max_pool_2d_f32_x;
typedef float mg_max_pool_2d_f32_acc;

static inline mg_f32 mg_max_pool_2d_f32_store(const mg_max_pool_2d_f32_params *p, float y)
{
    const float floored = y > p->out_min ? y : p->out_min;
    return floored > p->out_max ? p->out_max : floored;
}

#define MG_TYPE max_pool_2d_f32
#include "mcugen/max_pool_2d_template.h"
#undef MG_TYPE
