/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/max_pool_2d_s16.h"
#include "mcugen/pool.h"

typedef struct {
    mg_span rows;
    uint32_t offset, columns; /* of the first tap of channel 0 in its row, in elements; how many taps in a row */
} mg_max_s16_taps;

static inline int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static inline mg_s16 store(const mg_max_pool_2d_s16_params *p, int32_t y)
{
    return (mg_s16)mg_clamp(y, p->out_min, p->out_max);
}

static void four_channels(const mg_max_pool_2d_s16_params *p, const mg_s16 *const *rows, const mg_max_s16_taps *w,
                          uint32_t c, mg_s16 *out)
{
    const mg_s16 *const start = rows[w->rows.first] + w->offset + c;
    int32_t m0 = start[0], m1 = start[1], m2 = start[2], m3 = start[3];
    for (uint32_t i = w->rows.first; i < w->rows.end; i += 1u) {
        const mg_s16 *in = rows[i] + w->offset + c;
        for (uint32_t j = 0u; j < w->columns; j += 1u) {
            m0 = larger(in[0], m0);
            m1 = larger(in[1], m1);
            m2 = larger(in[2], m2);
            m3 = larger(in[3], m3);
            in += p->channels;
        }
    }
    out[c] = store(p, m0);
    out[c + 1u] = store(p, m1);
    out[c + 2u] = store(p, m2);
    out[c + 3u] = store(p, m3);
}

static void one_channel(const mg_max_pool_2d_s16_params *p, const mg_s16 *const *rows, const mg_max_s16_taps *w,
                        uint32_t c, mg_s16 *out)
{
    int32_t largest = rows[w->rows.first][w->offset + c];
    for (uint32_t i = w->rows.first; i < w->rows.end; i += 1u) {
        const mg_s16 *in = rows[i] + w->offset + c;
        for (uint32_t j = 0u; j < w->columns; j += 1u) {
            largest = larger(in[0], largest);
            in += p->channels;
        }
    }
    out[c] = store(p, largest);
}

void mg_max_pool_2d_s16(const mg_max_pool_2d_s16_params *p, const mg_s16 *const *rows, uint32_t y, mg_s16 *out)
{
    const uint32_t fours = p->channels & ~3u;
    const mg_span span = mg_pool_span(y, p->stride_h, p->pad_h, p->kernel_h, p->in_h);
    for (uint32_t x = 0u; x < p->out_w; x += 1u) {
        const mg_span columns = mg_pool_span(x, p->stride_w, p->pad_w, p->kernel_w, p->in_w);
        const mg_max_s16_taps w = {span, (x * p->stride_w + columns.first - p->pad_w) * p->channels,
                                   columns.end - columns.first};
        mg_s16 *const to = out + x * p->channels;
        for (uint32_t c = 0u; c < fours; c += 4u) {
            four_channels(p, rows, &w, c, to);
        }
        for (uint32_t c = fours; c < p->channels; c += 1u) {
            one_channel(p, rows, &w, c, to);
        }
    }
}
