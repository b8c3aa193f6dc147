/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: the largest element of a window, channel by channel.
 * MG_KERNEL: the kernel, MG_PARAMS: its parameters, MG_STORED: the elements, MG_VALUE: the type to compare them in. The
 * including file defines MG_VARIANT(store), the stored result for the largest of a window.
 */

typedef struct {
    mg_span rows;
    uint32_t offset, columns; /* elements from the row's start to channel 0 of the first tap; taps per row */
} MG_VARIANT(taps);

static inline MG_VALUE MG_VARIANT(larger)(MG_VALUE a, MG_VALUE b)
{
    return a > b ? a : b;
}

static void MG_VARIANT(four_channels)(const MG_PARAMS *p, const MG_STORED *const *rows,
                                      const MG_VARIANT(taps) *w, uint32_t c, MG_STORED *out)
{
    const MG_STORED *const start = rows[w->rows.first] + w->offset + c;
    MG_VALUE m0 = start[0], m1 = start[1], m2 = start[2], m3 = start[3];
    for (uint32_t i = w->rows.first; i < w->rows.end; i += 1u) {
        const MG_STORED *in = rows[i] + w->offset + c;
        for (uint32_t j = 0u; j < w->columns; j += 1u) {
            m0 = MG_VARIANT(larger)(in[0], m0);
            m1 = MG_VARIANT(larger)(in[1], m1);
            m2 = MG_VARIANT(larger)(in[2], m2);
            m3 = MG_VARIANT(larger)(in[3], m3);
            in += p->channels;
        }
    }
    out[c] = MG_VARIANT(store)(p, m0);
    out[c + 1u] = MG_VARIANT(store)(p, m1);
    out[c + 2u] = MG_VARIANT(store)(p, m2);
    out[c + 3u] = MG_VARIANT(store)(p, m3);
}

static void MG_VARIANT(one_channel)(const MG_PARAMS *p, const MG_STORED *const *rows,
                                    const MG_VARIANT(taps) *w, uint32_t c, MG_STORED *out)
{
    MG_VALUE largest = rows[w->rows.first][w->offset + c];
    for (uint32_t i = w->rows.first; i < w->rows.end; i += 1u) {
        const MG_STORED *in = rows[i] + w->offset + c;
        for (uint32_t j = 0u; j < w->columns; j += 1u) {
            largest = MG_VARIANT(larger)(in[0], largest);
            in += p->channels;
        }
    }
    out[c] = MG_VARIANT(store)(p, largest);
}

static void MG_VARIANT(channel_by_channel)(const MG_PARAMS *p, const MG_STORED *const *rows,
                                           const MG_VARIANT(taps) *w, MG_STORED *out)
{
    const uint32_t fours = p->channels & ~3u;
    for (uint32_t c = 0u; c < fours; c += 4u) {
        MG_VARIANT(four_channels)(p, rows, w, c, out);
    }
    for (uint32_t c = fours; c < p->channels; c += 1u) {
        MG_VARIANT(one_channel)(p, rows, w, c, out);
    }
}
