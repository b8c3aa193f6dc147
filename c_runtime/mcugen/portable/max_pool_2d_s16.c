/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/max_pool_2d_s16.h"
#include "mcugen/pool.h"
#include "mcugen/variant.h"

#define MG_KERNEL mg_max_pool_2d_s16
#define MG_PARAMS mg_max_pool_2d_s16_params
#define MG_STORED mg_s16
#define MG_VALUE int32_t

static inline mg_s16 MG_VARIANT(store)(const mg_max_pool_2d_s16_params *p, int32_t y)
{
    return (mg_s16)mg_clamp(y, p->out_min, p->out_max);
}

#define MG_PIXEL MG_VARIANT(channel_by_channel)
#include "mcugen/max_pool_2d_channels_template.h"
#include "mcugen/max_pool_2d_template.h"
#undef MG_KERNEL
#undef MG_PARAMS
#undef MG_STORED
#undef MG_VALUE
#undef MG_PIXEL
