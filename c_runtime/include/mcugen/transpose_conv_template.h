/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: the transposed convolution, on top of dot_1x4_template.h. Each output pixel gathers the input pixels that
 * reach it: with stride s, tap k of the pixel at y comes from input (y + pad - k) / s where that is whole.
 */

/* The taps of a row or column: tap `tap` reads input `input`, tap + stride reads input - 1, and so on. */
typedef struct {
    int32_t input, tap;
} MG_NAME(phase);

static inline MG_NAME(phase) MG_NAME(next)(MG_NAME(phase) at, int32_t stride)
{
    const int32_t wraps = (int32_t)(at.tap + 1 == stride);
    const MG_NAME(phase) next = {at.input + wraps, wraps != 0 ? 0 : at.tap + 1};
    return next;
}

/* `lanes` output channels, 4 or 1, from o on, of one pixel. in: the image. */
static inline void MG_NAME(channels)(const MG_NAME(params) *p, const MG_NAME(x) *in, MG_NAME(phase) row,
                                     MG_NAME(phase) column, uint32_t o, uint32_t lanes, MG_NAME(x) *out)
{
    const uint32_t in_c = p->in_c;
    const MG_NAME(acc) zero = MG_NAME(outside)(p);
    const MG_NAME(w) *const weights = p->weights + o * p->kernel_h * p->kernel_w * in_c;
    MG_NAME(acc) acc[4] = {0, 0, 0, 0};
    int32_t i = row.input;
    for (uint32_t k = 0u; k < lanes; k += 1u) {
        acc[k] = (MG_NAME(acc))p->bias[o + k];
    }
    for (int32_t kh = row.tap; kh < (int32_t)p->kernel_h; kh += (int32_t)p->stride_h) {
        int32_t j = column.input;
        for (int32_t kw = column.tap; kw < (int32_t)p->kernel_w; kw += (int32_t)p->stride_w) {
            if (i >= 0 && i < (int32_t)p->in_h && j >= 0 && j < (int32_t)p->in_w) {
                const MG_NAME(x) *const x = in + (uint32_t)(i * (int32_t)p->in_w + j) * in_c;
                const MG_NAME(w) *const w = weights + (uint32_t)(kh * (int32_t)p->kernel_w + kw) * in_c * lanes;
                if (lanes == 4u) {
                    MG_NAME(dot_1x4)(acc, x, zero, w, in_c);
                } else {
                    MG_NAME(dot_1x1)(acc, x, zero, w, in_c);
                }
            }
            j -= 1;
        }
        i -= 1;
    }
    for (uint32_t k = 0u; k < lanes; k += 1u) {
        out[o + k] = MG_NAME(store)(p, o + k, acc[k]);
    }
}

static void MG_NAME(row)(const MG_NAME(params) *p, const MG_NAME(x) *in, MG_NAME(phase) row, MG_NAME(x) *out)
{
    const uint32_t fours = (uint32_t)p->out_c & ~3u;
    MG_NAME(phase) column = {p->first_w, p->phase_w};
    for (uint32_t x = 0u; x < p->out_w; x += 1u) {
        for (uint32_t o = 0u; o < fours; o += 4u) {
            MG_NAME(channels)(p, in, row, column, o, 4u, out + x * p->out_c);
        }
        for (uint32_t o = fours; o < p->out_c; o += 1u) {
            MG_NAME(channels)(p, in, row, column, o, 1u, out + x * p->out_c);
        }
        column = MG_NAME(next)(column, p->stride_w);
    }
}

void MG_SYMBOL(const MG_NAME(params) *p, const MG_NAME(x) *in, MG_NAME(x) *out)
{
    const uint32_t in_size = (uint32_t)p->in_h * p->in_w * p->in_c;
    const uint32_t out_row = (uint32_t)p->out_w * p->out_c;
    for (uint32_t n = 0u; n < p->images; n += 1u) {
        MG_NAME(phase) row = {p->first_h, p->phase_h};
        for (uint32_t y = 0u; y < p->out_h; y += 1u) {
            MG_NAME(row)(p, in + n * in_size, row, out + (n * p->out_h + y) * out_row);
            row = MG_NAME(next)(row, p->stride_h);
        }
    }
}
