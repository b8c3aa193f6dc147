/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/average_pool_2d_f32.h"
#include "mcugen/pool.h"

typedef struct {
    mg_span rows;
    uint32_t offset, columns; /* of the first tap of channel 0 in its row, in elements; how many taps in a row */
    float count;
} mg_average_f32_taps;

static mg_average_f32_taps window_at(const mg_average_pool_2d_f32_params *p, mg_span rows, uint32_t x)
{
    const mg_span columns = mg_pool_span(x, p->stride_w, p->pad_w, p->kernel_w, p->in_w);
    const uint32_t height = rows.end - rows.first;
    const uint32_t width = columns.end - columns.first;
    const mg_average_f32_taps w = {rows, (x * p->stride_w + columns.first - p->pad_w) * p->channels, width,
                      (float)(height * width)};
    return w;
}

static float mean(const mg_average_pool_2d_f32_params *p, const mg_average_f32_taps *w, float sum)
{
    const float y = sum / w->count;
    const float floored = y < p->out_min ? p->out_min : y;
    return floored > p->out_max ? p->out_max : floored;
}

static void four_channels(const mg_average_pool_2d_f32_params *p, const mg_f32 *const *rows,
                          const mg_average_f32_taps *w, uint32_t c, mg_f32 *out)
{
    float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
    for (uint32_t i = w->rows.first; i < w->rows.end; i += 1u) {
        const mg_f32 *in = rows[i] + w->offset + c;
        for (uint32_t j = 0u; j < w->columns; j += 1u) {
            s0 += in[0];
            s1 += in[1];
            s2 += in[2];
            s3 += in[3];
            in += p->channels;
        }
    }
    out[c] = mean(p, w, s0);
    out[c + 1u] = mean(p, w, s1);
    out[c + 2u] = mean(p, w, s2);
    out[c + 3u] = mean(p, w, s3);
}

static void one_channel(const mg_average_pool_2d_f32_params *p, const mg_f32 *const *rows, const mg_average_f32_taps *w,
                        uint32_t c, mg_f32 *out)
{
    float sum = 0.0f;
    for (uint32_t i = w->rows.first; i < w->rows.end; i += 1u) {
        const mg_f32 *in = rows[i] + w->offset + c;
        for (uint32_t j = 0u; j < w->columns; j += 1u) {
            sum += in[0];
            in += p->channels;
        }
    }
    out[c] = mean(p, w, sum);
}

void mg_average_pool_2d_f32(const mg_average_pool_2d_f32_params *p, const mg_f32 *const *rows, uint32_t y, mg_f32 *out)
{
    const uint32_t fours = p->channels & ~3u;
    const mg_span span = mg_pool_span(y, p->stride_h, p->pad_h, p->kernel_h, p->in_h);
    for (uint32_t x = 0u; x < p->out_w; x += 1u) {
        const mg_average_f32_taps w = window_at(p, span, x);
        mg_f32 *const to = out + x * p->channels;
        for (uint32_t c = 0u; c < fours; c += 4u) {
            four_channels(p, rows, &w, c, to);
        }
        for (uint32_t c = fours; c < p->channels; c += 1u) {
            one_channel(p, rows, &w, c, to);
        }
    }
}
