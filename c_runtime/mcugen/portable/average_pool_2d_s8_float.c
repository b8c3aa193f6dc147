/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/average_pool_2d_s8_float.h"
#include "mcugen/pool.h"

typedef struct {
    mg_span rows, columns;
    uint32_t offset; /* elements from the row's start to channel 0 of the first tap */
} mg_average_float_taps;

/* Adds n taps of one channel and one row to a sum. */
static float sum_row(const mg_average_pool_2d_s8_float_params *p, float sum, const int8_t *x, uint32_t n)
{
    float total = sum;
    for (uint32_t j = 0u; j < n; j += 1u) {
        total += p->real[(uint32_t)(x[j * p->channels] + 128)];
    }
    return total;
}

static float sum_column(const mg_average_pool_2d_s8_float_params *p, const int8_t *const *rows,
                        const mg_average_float_taps *w, uint32_t at)
{
    float total = 0.0f;
    for (uint32_t i = w->rows.first; i < w->rows.end; i += 1u) {
        total += p->real[(uint32_t)(rows[i][at] + 128)];
    }
    return total;
}

static int8_t channel(const mg_average_pool_2d_s8_float_params *p, const int8_t *const *rows,
                      const mg_average_float_taps *w, uint32_t c)
{
    const uint32_t width = w->columns.end - w->columns.first, height = w->rows.end - w->rows.first;
    float total = 0.0f;
    if (p->by_columns != 0u) {
        for (uint32_t j = 0u; j < width; j += 1u) {
            total += sum_column(p, rows, w, w->offset + j * p->channels + c);
        }
    } else {
        for (uint32_t i = w->rows.first; i < w->rows.end; i += 1u) {
            total = sum_row(p, total, rows[i] + w->offset + c, width);
        }
    }
    total = total / (float)(int32_t)(height * width) / p->scale;
    return (int8_t)mg_clamp(mg_round_even(total + p->inside) + p->zero_point, p->out_min, p->out_max);
}

void mg_average_pool_2d_s8_float(const mg_average_pool_2d_s8_float_params *p, const int8_t *const *rows, uint32_t y, int8_t *out)
{
    const mg_span span = mg_pool_span(y, p->stride_h, p->pad_h, p->kernel_h, p->in_h);
    for (uint32_t x = 0u; x < p->out_w; x += 1u) {
        const mg_span columns = mg_pool_span(x, p->stride_w, p->pad_w, p->kernel_w, p->in_w);
        const mg_average_float_taps w = {span, columns, (x * p->stride_w + columns.first - p->pad_w) * p->channels};
        for (uint32_t c = 0u; c < p->channels; c += 1u) {
            out[x * p->channels + c] = channel(p, rows, &w, c);
        }
    }
}
