/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/lanes.h"
#include "mcugen/max_pool_2d_s8.h"
#include "mcugen/pool.h"
#include "mcugen/variant.h"

#define MG_KERNEL mg_max_pool_2d_s8
#define MG_PARAMS mg_max_pool_2d_s8_params
#define MG_STORED int8_t
#define MG_VALUE int32_t

static inline int8_t MG_VARIANT(store)(const mg_max_pool_2d_s8_params *p, int32_t y)
{
    return (int8_t)mg_clamp(y, p->out_min, p->out_max);
}

#include "mcugen/max_pool_2d_channels_template.h"

#if MG_LANES
static inline void larger_four(const int8_t *in, int8_t *out)
{
    mg_store_four(out, mg_larger_four(mg_load_four(in), mg_load_four(out)));
}

/* out[c] = the larger of out[c] and in[c], for n >= 4; the last four overlap elements before. */
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

/* Computes a pixel tap by tap; out holds the largest values so far. */
static void pixel(const mg_max_pool_2d_s8_params *p, const int8_t *const *rows, const MG_VARIANT(taps) *w, int8_t *out)
{
    if (p->channels < 4u) {
        MG_VARIANT(channel_by_channel)(p, rows, w, out);
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
            out[c] = MG_VARIANT(store)(p, out[c]);
        }
    }
}
#define MG_PIXEL pixel
#else
#define MG_PIXEL MG_VARIANT(channel_by_channel)
#endif

#include "mcugen/max_pool_2d_template.h"
#undef MG_KERNEL
#undef MG_PARAMS
#undef MG_STORED
#undef MG_VALUE
#undef MG_PIXEL
