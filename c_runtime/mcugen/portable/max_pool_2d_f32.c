/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/max_pool_2d_f32.h"
#include "mcugen/pool.h"
#include "mcugen/variant.h"

#define MG_KERNEL mg_max_pool_2d_f32
#define MG_PARAMS mg_max_pool_2d_f32_params
#define MG_STORED mg_f32
#define MG_VALUE float

static inline mg_f32 MG_VARIANT(store)(const mg_max_pool_2d_f32_params *p, float y)
{
    const float floored = y > p->out_min ? y : p->out_min;
    return floored > p->out_max ? p->out_max : floored;
}

#define MG_PIXEL MG_VARIANT(channel_by_channel)
#include "mcugen/max_pool_2d_channels_template.h"
#include "mcugen/max_pool_2d_template.h"
#undef MG_KERNEL
#undef MG_PARAMS
#undef MG_STORED
#undef MG_VALUE
#undef MG_PIXEL
