/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/lanes.h"
#include "mcugen/max_pool_2d_s8.h"
#include "mcugen/pool.h"

typedef struct {
    mg_span rows;
    uint32_t offset, columns; /* of the first tap of channel 0 in its row, in elements; how many taps in a row */
} mg_max_s8_taps;

static inline int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static inline int8_t store(const mg_max_pool_2d_s8_params *p, int32_t y)
{
    return (int8_t)mg_clamp(y, p->out_min, p->out_max);
}

static void four_channels(const mg_max_pool_2d_s8_params *p, const int8_t *const *rows, const mg_max_s8_taps *w,
                          uint32_t c, int8_t *out)
{
    const int8_t *const start = rows[w->rows.first] + w->offset + c;
    int32_t m0 = start[0], m1 = start[1], m2 = start[2], m3 = start[3];
    for (uint32_t i = w->rows.first; i < w->rows.end; i += 1u) {
        const int8_t *in = rows[i] + w->offset + c;
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

static void one_channel(const mg_max_pool_2d_s8_params *p, const int8_t *const *rows, const mg_max_s8_taps *w,
                        uint32_t c, int8_t *out)
{
    int32_t largest = rows[w->rows.first][w->offset + c];
    for (uint32_t i = w->rows.first; i < w->rows.end; i += 1u) {
        const int8_t *in = rows[i] + w->offset + c;
        for (uint32_t j = 0u; j < w->columns; j += 1u) {
            largest = larger(in[0], largest);
            in += p->channels;
        }
    }
    out[c] = store(p, largest);
}

static void channel_by_channel(const mg_max_pool_2d_s8_params *p, const int8_t *const *rows, const mg_max_s8_taps *w,
                               int8_t *out)
{
    const uint32_t fours = p->channels & ~3u;
    for (uint32_t c = 0u; c < fours; c += 4u) {
        four_channels(p, rows, w, c, out);
    }
    for (uint32_t c = fours; c < p->channels; c += 1u) {
        one_channel(p, rows, w, c, out);
    }
}

#if MG_LANES
static inline void larger_four(const int8_t *in, int8_t *out)
{
    mg_store_four(out, mg_larger_four(mg_load_four(in), mg_load_four(out)));
}

/* out[c] = the larger of out[c] and in[c], for n >= 4; the last four overlap those before. */
static void larger_run(const int8_t *in, int8_t *out, uint32_t n)
{
    const int8_t *const end = in + (n & ~7u);
    if ((n & 7u) > 4u) {
        larger_four(end, out + (n & ~7u));
    }
    if ((n & 7u) > 0u) {
        larger_four(in + n - 4u, out + n - 4u);
    }
    for (const int8_t *x = in; x < end; x += 8) {
        larger_four(x, out);
        larger_four(x + 4, out + 4);
        out += 8;
    }
}

/* Tap by tap; out holds the largest values so far. */
static void pixel(const mg_max_pool_2d_s8_params *p, const int8_t *const *rows, const mg_max_s8_taps *w, int8_t *out)
{
    if (p->channels < 4u) {
        channel_by_channel(p, rows, w, out);
    } else {
        const uint32_t low = (uint32_t)(p->out_min & 0xFF) * 0x01010101u;
        for (uint32_t c = 0u; c < p->channels / 4u; c += 1u) {
            mg_store_four(out + 4u * c, low);
        }
        mg_store_four(out + p->channels - 4u, low);
        for (uint32_t i = w->rows.first; i < w->rows.end; i += 1u) {
            for (uint32_t j = 0u; j < w->columns; j += 1u) {
                larger_run(rows[i] + w->offset + j * p->channels, out, p->channels);
            }
        }
        for (uint32_t c = 0u; c < p->channels && p->out_max < 127; c += 1u) {
            out[c] = store(p, out[c]);
        }
    }
}
#else
static void pixel(const mg_max_pool_2d_s8_params *p, const int8_t *const *rows, const mg_max_s8_taps *w, int8_t *out)
{
    channel_by_channel(p, rows, w, out);
}
#endif

void mg_max_pool_2d_s8(const mg_max_pool_2d_s8_params *p, const int8_t *const *rows, uint32_t y, int8_t *out)
{
    const mg_span span = mg_pool_span(y, p->stride_h, p->pad_h, p->kernel_h, p->in_h);
    for (uint32_t x = 0u; x < p->out_w; x += 1u) {
        const mg_span columns = mg_pool_span(x, p->stride_w, p->pad_w, p->kernel_w, p->in_w);
        const mg_max_s8_taps w = {span, (x * p->stride_w + columns.first - p->pad_w) * p->channels,
                                  columns.end - columns.first};
        pixel(p, rows, &w, out + x * p->channels);
    }
}
