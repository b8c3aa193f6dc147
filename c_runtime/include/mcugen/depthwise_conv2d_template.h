/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: one output row of a depthwise convolution. Four channels are computed together, of two pixels where all
 * taps lie inside the row.
 */

/* acc[c] += x[c] * w[c], for four neighbouring channels */
static inline void MG_NAME(tap)(MG_NAME(acc) *acc, const MG_NAME(x) *x, MG_NAME(acc) w0, MG_NAME(acc) w1, MG_NAME(acc) w2, MG_NAME(acc) w3)
{
    acc[0] += x[0] * w0;
    acc[1] += x[1] * w1;
    acc[2] += x[2] * w2;
    acc[3] += x[3] * w3;
}

/* n taps of one pixel, `step` elements apart */
static inline void MG_NAME(taps)(MG_NAME(acc) *acc, const MG_NAME(x) *x, const MG_NAME(w) *w, int32_t step, int32_t n)
{
    for (int32_t j = 0; j < n; j += 1) {
        MG_NAME(tap)(acc, x, w[0], w[1], w[2], w[3]);
        x += step;
        w += 4;
    }
}

/* n taps of two pixels `apart` elements apart; acc: four sums of the first pixel, four of the second */
static inline void MG_NAME(taps_of_two)(MG_NAME(acc) *acc, const MG_NAME(x) *x0, int32_t apart, const MG_NAME(w) *w, int32_t step, int32_t n)
{
    const MG_NAME(x) *x1 = x0 + apart;
    for (int32_t j = 0; j < n; j += 1) {
        const MG_NAME(acc) w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3];
        MG_NAME(tap)(acc, x0, w0, w1, w2, w3);
        MG_NAME(tap)(acc + 4, x1, w0, w1, w2, w3);
        x0 += step;
        x1 += step;
        w += 4;
    }
}

/* A pixel and the taps of a kernel row, [first, end) of them inside the image; column: that of tap 0. */
typedef struct {
    int32_t column, first, end;
} MG_NAME(place);

static inline MG_NAME(place) MG_NAME(locate)(const MG_NAME(params) *p, uint32_t x)
{
    MG_NAME(place) at = {(int32_t)(x * p->stride_w) - (int32_t)p->pad_w, 0, 0};
    for (int32_t j = 0; j < (int32_t)p->kernel_w; j += 1) {
        const int32_t column = at.column + j * (int32_t)p->dilation_w;
        at.first += (int32_t)(column < 0);
        at.end += (int32_t)(column < (int32_t)p->in_w);
    }
    return at;
}

/* Four channels of one pixel, from channel c on; taps outside the image are in_zero_point. */
static void MG_NAME(four)(const MG_NAME(params) *p, const MG_NAME(x) *const *rows, const MG_NAME(place) *at, uint32_t c, MG_NAME(x) *out)
{
    const int32_t width = (int32_t)p->kernel_w;
    const int32_t step = (int32_t)p->dilation_w * (int32_t)p->in_c;
    const int32_t offset = at->column * (int32_t)p->in_c + (int32_t)c;
    const MG_NAME(w) *const weights = p->weights + c * p->kernel_h * p->kernel_w;
    const MG_NAME(x) outside = MG_NAME(outside)(p);
    const MG_NAME(x) fill[4] = {outside, outside, outside, outside};
    MG_NAME(acc) acc[4] = {(MG_NAME(acc))p->bias[c], (MG_NAME(acc))p->bias[c + 1u], (MG_NAME(acc))p->bias[c + 2u],
                           (MG_NAME(acc))p->bias[c + 3u]};
    for (int32_t i = 0; i < (int32_t)p->kernel_h; i += 1) {
        const MG_NAME(w) *const w = weights + 4 * width * i;
        MG_NAME(taps)(acc, fill, w, 0, at->first);
        MG_NAME(taps)(acc, rows[i] + offset + step * at->first, w + 4 * at->first, step, at->end - at->first);
        MG_NAME(taps)(acc, fill, w + 4 * at->end, 0, width - at->end);
    }
    out[c] = MG_NAME(store)(p, c, acc[0]);
    out[c + 1u] = MG_NAME(store)(p, c + 1u, acc[1]);
    out[c + 2u] = MG_NAME(store)(p, c + 2u, acc[2]);
    out[c + 3u] = MG_NAME(store)(p, c + 3u, acc[3]);
}

/* Output channel o of one pixel. */
static void MG_NAME(one)(const MG_NAME(params) *p, const MG_NAME(x) *const *rows, const MG_NAME(place) *at, uint32_t c, uint32_t o,
                         MG_NAME(x) *out)
{
    const int32_t step = (int32_t)p->dilation_w * (int32_t)p->in_c;
    const int32_t offset = at->column * (int32_t)p->in_c + (int32_t)c;
    const MG_NAME(w) *w = p->weights + o * p->kernel_h * p->kernel_w;
    const MG_NAME(x) outside = MG_NAME(outside)(p);
    MG_NAME(acc) acc = (MG_NAME(acc))p->bias[o];
    for (int32_t i = 0; i < (int32_t)p->kernel_h; i += 1) {
        for (int32_t j = 0; j < (int32_t)p->kernel_w; j += 1) {
            const int32_t inside = (int32_t)(j >= at->first && j < at->end);
            acc += (MG_NAME(acc))(inside != 0 ? rows[i][offset + step * j] : outside) * w[j];
        }
        w += p->kernel_w;
    }
    out[o] = MG_NAME(store)(p, o, acc);
}

/* Four channels of two pixels whose taps all lie inside the image. */
static void MG_NAME(pair)(const MG_NAME(params) *p, const MG_NAME(x) *const *rows, uint32_t x, uint32_t c, MG_NAME(x) *out)
{
    const int32_t width = (int32_t)p->kernel_w;
    const int32_t step = (int32_t)p->dilation_w * (int32_t)p->in_c;
    const int32_t apart = (int32_t)p->stride_w * (int32_t)p->in_c;
    const int32_t offset = (int32_t)x * apart - (int32_t)p->pad_w * (int32_t)p->in_c + (int32_t)c;
    const MG_NAME(w) *w = p->weights + c * p->kernel_h * p->kernel_w;
    MG_NAME(acc) acc[8] = {(MG_NAME(acc))p->bias[c], (MG_NAME(acc))p->bias[c + 1u], (MG_NAME(acc))p->bias[c + 2u],
                           (MG_NAME(acc))p->bias[c + 3u]};
    memcpy(acc + 4, acc, 4u * sizeof acc[0]);
    for (int32_t i = 0; i < (int32_t)p->kernel_h; i += 1) {
        MG_NAME(taps_of_two)(acc, rows[i] + offset, apart, w, step, width);
        w += 4 * width;
    }
    for (uint32_t k = 0u; k < 4u; k += 1u) {
        out[c + k] = MG_NAME(store)(p, c + k, acc[k]);
        out[p->out_c + c + k] = MG_NAME(store)(p, c + k, acc[k + 4u]);
    }
}

/* Every channel of one pixel, but the first `done`. */
static void MG_NAME(pixel)(const MG_NAME(params) *p, const MG_NAME(x) *const *rows, uint32_t x, uint32_t done, MG_NAME(x) *out)
{
    const MG_NAME(place) at = MG_NAME(locate)(p, x);
    const uint32_t multiplier = p->depth_multiplier;
    const uint32_t fours = multiplier == 1u ? (uint32_t)p->in_c & ~3u : 0u;
    for (uint32_t c = done; c < fours; c += 4u) {
        MG_NAME(four)(p, rows, &at, c, out);
    }
    for (uint32_t c = fours; c < p->in_c; c += 1u) {
        for (uint32_t m = 0u; m < multiplier; m += 1u) {
            MG_NAME(one)(p, rows, &at, c, c * multiplier + m, out);
        }
    }
}

static inline void MG_NAME(pixels)(const MG_NAME(params) *p, const MG_NAME(x) *const *rows, uint32_t first, uint32_t end, MG_NAME(x) *out)
{
    for (uint32_t x = first; x < end; x += 1u) {
        MG_NAME(pixel)(p, rows, x, 0u, out + x * p->out_c);
    }
}

void MG_SYMBOL(const MG_NAME(params) *p, const MG_NAME(x) *const *rows, uint32_t y, MG_NAME(x) *out)
{
    const uint32_t fours = p->depth_multiplier == 1u ? (uint32_t)p->in_c & ~3u : 0u;
    const uint32_t pairs_end = p->inside_end - ((uint32_t)(p->inside_end - p->inside_first) & 1u);
    (void)y;
    MG_NAME(pixels)(p, rows, 0u, p->inside_first, out);
    for (uint32_t x = p->inside_first; x < pairs_end; x += 2u) {
        MG_NAME(x) *const to = out + x * p->out_c;
        for (uint32_t c = 0u; c < fours; c += 4u) {
            MG_NAME(pair)(p, rows, x, c, to);
        }
        MG_NAME(pixel)(p, rows, x, fours, to);
        MG_NAME(pixel)(p, rows, x + 1u, fours, to + p->out_c);
    }
    MG_NAME(pixels)(p, rows, pairs_end, p->out_w, out);
}
