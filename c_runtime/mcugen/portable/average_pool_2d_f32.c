/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/average_pool_2d_f32.h"
#include "mcugen/pool.h"
#include "mcugen/variant.h"

#define MG_KERNEL mg_average_pool_2d_f32
#define MG_PARAMS mg_average_pool_2d_f32_params
#define MG_STORED mg_f32
#define MG_VALUE float

typedef struct {
    mg_span rows;
    uint32_t offset, columns; /* elements from the row's start to channel 0 of the first tap; taps per row */
    float count;
} MG_VARIANT(taps);

static MG_VARIANT(taps) MG_VARIANT(window_at)(const mg_average_pool_2d_f32_params *p, mg_span rows, uint32_t x)
{
    const mg_span columns = mg_pool_span(x, p->stride_w, p->pad_w, p->kernel_w, p->in_w);
    const uint32_t height = rows.end - rows.first;
    const uint32_t width = columns.end - columns.first;
    const MG_VARIANT(taps) w = {rows, (x * p->stride_w + columns.first - p->pad_w) * p->channels, width,
                      (float)(height * width)};
    return w;
}

static float MG_VARIANT(mean)(const mg_average_pool_2d_f32_params *p, const MG_VARIANT(taps) *w, float sum)
{
    const float y = sum / w->count;
    const float floored = y < p->out_min ? p->out_min : y;
    return floored > p->out_max ? p->out_max : floored;
}

#include "mcugen/average_pool_2d_template.h"
#undef MG_KERNEL
#undef MG_PARAMS
#undef MG_STORED
#undef MG_VALUE
