/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/average_pool_2d_s16.h"
#include "mcugen/divide.h"
#include "mcugen/pool.h"
#include "mcugen/variant.h"

#define MG_KERNEL mg_average_pool_2d_s16
#define MG_PARAMS mg_average_pool_2d_s16_params
#define MG_STORED mg_s16
#define MG_VALUE int32_t

typedef struct {
    mg_span rows;
    uint32_t offset, columns; /* elements from the row's start to channel 0 of the first tap; taps per row */
    uint32_t count, mult, shift;
} MG_VARIANT(taps);

static MG_VARIANT(taps) MG_VARIANT(window_at)(const mg_average_pool_2d_s16_params *p, mg_span rows, uint32_t x)
{
    const mg_span columns = mg_pool_span(x, p->stride_w, p->pad_w, p->kernel_w, p->in_w);
    const uint32_t height = rows.end - rows.first;
    const uint32_t width = columns.end - columns.first;
    const uint32_t entry = (height - p->min_rows) * p->recip_pitch + (width - p->min_columns);
    const MG_VARIANT(taps) w = {rows, (x * p->stride_w + columns.first - p->pad_w) * p->channels, width,
                                   height * width, p->recip_mult[entry], p->recip_shift[entry]};
    return w;
}

static mg_s16 MG_VARIANT(mean)(const mg_average_pool_2d_s16_params *p, const MG_VARIANT(taps) *w, int32_t sum)
{
    const int32_t y = mg_average(sum + p->offset * (int32_t)w->count, w->count, w->mult, w->shift) - p->offset;
    return (mg_s16)mg_clamp(y, p->out_min, p->out_max);
}

#include "mcugen/average_pool_2d_template.h"
#undef MG_KERNEL
#undef MG_PARAMS
#undef MG_STORED
#undef MG_VALUE
