/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/filter.h"
#include "mcugen/max_pool_2d_s16.h"
#include "mcugen/pool.h"

typedef mg_s16 mg_max_pool_2d_s16_x;
typedef int32_t mg_max_pool_2d_s16_acc;

static inline mg_s16 mg_max_pool_2d_s16_store(const mg_max_pool_2d_s16_params *p, int32_t y)
{
    return (mg_s16)mg_clamp(y, p->out_min, p->out_max);
}

#define MG_TYPE max_pool_2d_s16
#include "mcugen/max_pool_2d_template.h"
#undef MG_TYPE
