/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: one output row of a max pooling. Needs MG_TYPE (see filter.h), MG_NAME(x) and MG_NAME(acc), the types of
 * data and of the largest so far, and MG_NAME(store)(p, y), the output of a value.
 */
typedef struct {
    mg_span rows;
    uint32_t offset, columns; /* of the first tap of channel 0 in its row, in elements; how many taps in a row */
} MG_NAME(taps);

static inline MG_NAME(acc) MG_NAME(larger)(MG_NAME(acc) a, MG_NAME(acc) b)
{
    return a > b ? a : b;
}

static void MG_NAME(four_channels)(const MG_NAME(params) *p, const MG_NAME(x) *const *rows, const MG_NAME(taps) *w,
                                   uint32_t c, MG_NAME(x) *out)
{
    const MG_NAME(x) *const start = rows[w->rows.first] + w->offset + c;
    MG_NAME(acc) m0 = start[0], m1 = start[1], m2 = start[2], m3 = start[3];
    for (uint32_t i = w->rows.first; i < w->rows.end; i += 1u) {
        const MG_NAME(x) *in = rows[i] + w->offset + c;
        for (uint32_t j = 0u; j < w->columns; j += 1u) {
            m0 = MG_NAME(larger)(in[0], m0);
            m1 = MG_NAME(larger)(in[1], m1);
            m2 = MG_NAME(larger)(in[2], m2);
            m3 = MG_NAME(larger)(in[3], m3);
            in += p->channels;
        }
    }
    out[c] = MG_NAME(store)(p, m0);
    out[c + 1u] = MG_NAME(store)(p, m1);
    out[c + 2u] = MG_NAME(store)(p, m2);
    out[c + 3u] = MG_NAME(store)(p, m3);
}

static void MG_NAME(one_channel)(const MG_NAME(params) *p, const MG_NAME(x) *const *rows, const MG_NAME(taps) *w,
                                 uint32_t c, MG_NAME(x) *out)
{
    MG_NAME(acc) largest = rows[w->rows.first][w->offset + c];
    for (uint32_t i = w->rows.first; i < w->rows.end; i += 1u) {
        const MG_NAME(x) *in = rows[i] + w->offset + c;
        for (uint32_t j = 0u; j < w->columns; j += 1u) {
            largest = MG_NAME(larger)(in[0], largest);
            in += p->channels;
        }
    }
    out[c] = MG_NAME(store)(p, largest);
}

void MG_SYMBOL(const MG_NAME(params) *p, const MG_NAME(x) *const *rows, uint32_t y, MG_NAME(x) *out)
{
    const uint32_t fours = p->channels & ~3u;
    const mg_span span = mg_pool_span(y, p->stride_h, p->pad_h, p->kernel_h, p->in_h);
    for (uint32_t x = 0u; x < p->out_w; x += 1u) {
        const mg_span columns = mg_pool_span(x, p->stride_w, p->pad_w, p->kernel_w, p->in_w);
        const MG_NAME(taps) w = {span, (x * p->stride_w + columns.first - p->pad_w) * p->channels,
                                 columns.end - columns.first};
        MG_NAME(x) *const to = out + x * p->channels;
        for (uint32_t c = 0u; c < fours; c += 4u) {
            MG_NAME(four_channels)(p, rows, &w, c, to);
        }
        for (uint32_t c = fours; c < p->channels; c += 1u) {
            MG_NAME(one_channel)(p, rows, &w, c, to);
        }
    }
}
