/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/average_pool_2d_s8.h"
#include "mcugen/column_sums.h"
#include "mcugen/divide.h"
#include "mcugen/pool.h"

typedef struct {
    mg_span rows;
    uint32_t offset, columns; /* elements from the row's start to channel 0 of the first tap; taps per row */
    uint32_t count, mult, shift;
} mg_average_s8_taps;

static mg_average_s8_taps window_at(const mg_average_pool_2d_s8_params *p, mg_span rows, uint32_t x)
{
    const mg_span columns = mg_pool_span(x, p->stride_w, p->pad_w, p->kernel_w, p->in_w);
    const uint32_t height = rows.end - rows.first;
    const uint32_t width = columns.end - columns.first;
    const uint32_t entry = (height - p->min_rows) * p->recip_pitch + (width - p->min_columns);
    const mg_average_s8_taps w = {rows, (x * p->stride_w + columns.first - p->pad_w) * p->channels, width,
                                   height * width, p->recip_mult[entry], p->recip_shift[entry]};
    return w;
}

static int8_t mean(const mg_average_pool_2d_s8_params *p, const mg_average_s8_taps *w, int32_t sum)
{
    const int32_t y = mg_average(sum + p->offset * (int32_t)w->count, w->count, w->mult, w->shift) - p->offset;
    return (int8_t)mg_clamp(y, p->out_min, p->out_max);
}

static void four_channels(const mg_average_pool_2d_s8_params *p, const int8_t *const *rows,
                          const mg_average_s8_taps *w, uint32_t c, int8_t *out)
{
    mg_s32 sums[4] = {0, 0, 0, 0};
    for (uint32_t i = w->rows.first; i < w->rows.end; i += 1u) {
        mg_add_four_columns_s8(sums, rows[i] + w->offset + c, w->columns, p->channels);
    }
    out[c] = mean(p, w, sums[0]);
    out[c + 1u] = mean(p, w, sums[1]);
    out[c + 2u] = mean(p, w, sums[2]);
    out[c + 3u] = mean(p, w, sums[3]);
}

static void one_channel(const mg_average_pool_2d_s8_params *p, const int8_t *const *rows, const mg_average_s8_taps *w,
                        uint32_t c, int8_t *out)
{
    int32_t sum = 0;
    for (uint32_t i = w->rows.first; i < w->rows.end; i += 1u) {
        const int8_t *in = rows[i] + w->offset + c;
        for (uint32_t j = 0u; j < w->columns; j += 1u) {
            sum += in[0];
            in += p->channels;
        }
    }
    out[c] = mean(p, w, sum);
}

void mg_average_pool_2d_s8(const mg_average_pool_2d_s8_params *p, const int8_t *const *rows, uint32_t y, int8_t *out)
{
    const uint32_t fours = p->channels & ~3u;
    const mg_span span = mg_pool_span(y, p->stride_h, p->pad_h, p->kernel_h, p->in_h);
    for (uint32_t x = 0u; x < p->out_w; x += 1u) {
        const mg_average_s8_taps w = window_at(p, span, x);
        int8_t *const to = out + x * p->channels;
        for (uint32_t c = 0u; c < fours; c += 4u) {
            four_channels(p, rows, &w, c, to);
        }
        for (uint32_t c = fours; c < p->channels; c += 1u) {
            one_channel(p, rows, &w, c, to);
        }
    }
}
