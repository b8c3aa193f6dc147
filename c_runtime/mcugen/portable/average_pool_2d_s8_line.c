/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/average_pool_2d_s8_line.h"
#include "mcugen/pool.h"
#include "mcugen/variant.h"

#define MG_KERNEL mg_average_pool_2d_s8_line
#define MG_PARAMS mg_average_pool_2d_s8_line_params
#define MG_STORED int8_t
#define MG_VALUE int32_t

typedef struct {
    mg_span rows;
    uint32_t offset, columns; /* elements from the row's start to channel 0 of the first tap; taps per row */
    uint32_t entry;
} MG_VARIANT(taps);

static MG_VARIANT(taps) MG_VARIANT(window_at)(const mg_average_pool_2d_s8_line_params *p, mg_span rows, uint32_t x)
{
    const mg_span columns = mg_pool_span(x, p->stride_w, p->pad_w, p->kernel_w, p->in_w);
    const uint32_t height = rows.end - rows.first;
    const uint32_t width = columns.end - columns.first;
    const uint32_t entry = (height - p->min_rows) * p->pitch + (width - p->min_columns);
    const MG_VARIANT(taps) w = {rows, (x * p->stride_w + columns.first - p->pad_w) * p->channels, width,
                                   entry};
    return w;
}

static int8_t MG_VARIANT(mean)(const mg_average_pool_2d_s8_line_params *p, const MG_VARIANT(taps) *w, int32_t sum)
{
    return (int8_t)mg_line_at(&p->line, w->entry, sum);
}

#include "mcugen/average_pool_2d_template.h"
#undef MG_KERNEL
#undef MG_PARAMS
#undef MG_STORED
#undef MG_VALUE
