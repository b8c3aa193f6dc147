/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: the mean of a window.
 * MG_KERNEL: the function, MG_PARAMS: its parameters, MG_STORED: the elements, MG_VALUE: the type to sum them in.
 * The including file defines MG_VARIANT(taps), the window of an output, MG_VARIANT(window_at), which finds it, and
 * MG_VARIANT(mean), the stored result for a sum.
 */

static void MG_VARIANT(four_channels)(const MG_PARAMS *p, const MG_STORED *const *rows,
                                      const MG_VARIANT(taps) *w, uint32_t c, MG_STORED *out)
{
    MG_VALUE s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (uint32_t i = w->rows.first; i < w->rows.end; i += 1u) {
        const MG_STORED *in = rows[i] + w->offset + c;
        for (uint32_t j = 0u; j < w->columns; j += 1u) {
            s0 += in[0];
            s1 += in[1];
            s2 += in[2];
            s3 += in[3];
            in += p->channels;
        }
    }
    out[c] = MG_VARIANT(mean)(p, w, s0);
    out[c + 1u] = MG_VARIANT(mean)(p, w, s1);
    out[c + 2u] = MG_VARIANT(mean)(p, w, s2);
    out[c + 3u] = MG_VARIANT(mean)(p, w, s3);
}

static void MG_VARIANT(one_channel)(const MG_PARAMS *p, const MG_STORED *const *rows,
                                    const MG_VARIANT(taps) *w, uint32_t c, MG_STORED *out)
{
    MG_VALUE sum = 0;
    for (uint32_t i = w->rows.first; i < w->rows.end; i += 1u) {
        const MG_STORED *in = rows[i] + w->offset + c;
        for (uint32_t j = 0u; j < w->columns; j += 1u) {
            sum += in[0];
            in += p->channels;
        }
    }
    out[c] = MG_VARIANT(mean)(p, w, sum);
}

void MG_KERNEL(const MG_PARAMS *p, const MG_STORED *const *rows, uint32_t y, MG_STORED *out)
{
    const uint32_t fours = p->channels & ~3u;
    const mg_span span = mg_pool_span(y, p->stride_h, p->pad_h, p->kernel_h, p->in_h);
    for (uint32_t x = 0u; x < p->out_w; x += 1u) {
        const MG_VARIANT(taps) w = MG_VARIANT(window_at)(p, span, x);
        MG_STORED *const to = out + x * p->channels;
        for (uint32_t c = 0u; c < fours; c += 4u) {
            MG_VARIANT(four_channels)(p, rows, &w, c, to);
        }
        for (uint32_t c = fours; c < p->channels; c += 1u) {
            MG_VARIANT(one_channel)(p, rows, &w, c, to);
        }
    }
}
