/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: one output row of a depthwise convolution. Four channels are computed together.
 */
#include "mcugen/weights_template.h"
#include "mcugen/nine_template.h"

/* acc[c] += x[c] * w[c], for four neighbouring channels */
static inline void MG_NAME(tap)(const MG_NAME(params) *p, MG_NAME(acc) *acc, const MG_NAME(x) *x, const MG_NAME(w) *w)
{
    acc[0] += x[0] * MG_NAME(factor)(p, w, 0u);
    acc[1] += x[1] * MG_NAME(factor)(p, w, 1u);
    acc[2] += x[2] * MG_NAME(factor)(p, w, 2u);
    acc[3] += x[3] * MG_NAME(factor)(p, w, 3u);
}

/* Adds n taps of one pixel, `step` elements apart. The usual n is 3. */
static inline void MG_NAME(taps)(const MG_NAME(params) *p, MG_NAME(acc) *acc, const MG_NAME(x) *x, const MG_NAME(w) *w,
                                 int32_t step, int32_t n)
{
    if (n == 3) {
        MG_NAME(tap)(p, acc, x, w);
        MG_NAME(tap)(p, acc, x + step, MG_NAME(from)(w, 4u));
        MG_NAME(tap)(p, acc, x + 2 * step, MG_NAME(from)(w, 8u));
    } else {
        for (int32_t j = 0; j < n; j += 1) {
            MG_NAME(tap)(p, acc, x, w);
            x += step;
            w = MG_NAME(from)(w, 4u);
        }
    }
}

/* The taps of a kernel row that lie inside the image, [first, end), for the pixel whose tap 0 is at `column`. */
typedef struct {
    int32_t column, first, end;
} MG_NAME(place);

static MG_NAME(place) MG_NAME(locate)(const MG_NAME(params) *p, uint32_t x)
{
    MG_NAME(place) at = {(int32_t)(x * p->stride_w) - (int32_t)p->pad_w, 0, (int32_t)p->kernel_w};
    if (x < p->inside_first || x >= p->inside_end) {
        at.end = 0;
        for (int32_t j = 0; j < (int32_t)p->kernel_w; j += 1) {
            const int32_t column = at.column + j * (int32_t)p->dilation_w;
            at.first += (int32_t)(column < 0);
            at.end += (int32_t)(column < (int32_t)p->in_w);
        }
    }
    return at;
}

/* For taps [first, end) of each kernel row: acc[c] += value outside the image * weight */
static void MG_NAME(beyond)(const MG_NAME(params) *p, MG_NAME(acc) *acc, const MG_NAME(w) *w, int32_t first, int32_t end)
{
    const MG_NAME(acc) outside = MG_NAME(outside)(p);
    for (int32_t i = 0; i < (int32_t)p->kernel_h; i += 1) {
        for (int32_t j = 4 * first; j < 4 * end; j += 4) {
            acc[0] += outside * MG_NAME(factor)(p, w, (uint32_t)j);
            acc[1] += outside * MG_NAME(factor)(p, w, (uint32_t)j + 1u);
            acc[2] += outside * MG_NAME(factor)(p, w, (uint32_t)j + 2u);
            acc[3] += outside * MG_NAME(factor)(p, w, (uint32_t)j + 3u);
        }
        w = MG_NAME(from)(w, 4u * p->kernel_w);
    }
}

/* Computes channels [c, c + 4) of an output row. */
static void MG_NAME(four)(const MG_NAME(params) *p, const MG_NAME(x) *const *rows, uint32_t c, MG_NAME(x) *out)
{
    const MG_NAME(w) *const weights = MG_NAME(from)(p->weights, c * p->kernel_h * p->kernel_w);
    const int32_t width = (int32_t)p->kernel_w, height = (int32_t)p->kernel_h;
    const int32_t step = (int32_t)p->dilation_w * (int32_t)p->in_c;
    for (uint32_t x = 0u; x < p->out_w; x += 1u) {
        const MG_NAME(place) at = MG_NAME(locate)(p, x);
        const int32_t offset = at.column * (int32_t)p->in_c + step * at.first + (int32_t)c;
        const MG_NAME(w) *w = MG_NAME(from)(weights, 4u * (uint32_t)at.first);
        MG_NAME(acc) acc[4] = {(MG_NAME(acc))p->bias[c], (MG_NAME(acc))p->bias[c + 1u], (MG_NAME(acc))p->bias[c + 2u],
                               (MG_NAME(acc))p->bias[c + 3u]};
        for (int32_t i = 0; i < height; i += 1) {
            MG_NAME(taps)(p, acc, rows[i] + offset, w, step, at.end - at.first);
            w = MG_NAME(from)(w, 4u * (uint32_t)width);
        }
        if (at.end - at.first < width) {
            MG_NAME(beyond)(p, acc, weights, 0, at.first);
            MG_NAME(beyond)(p, acc, weights, at.end, width);
        }
        MG_NAME(store_run)(p, c, 4u, acc, out + x * p->out_c + c);
    }
}

/* Sum over taps [first, end) of each kernel row of output channel o: value outside the image * weight. */
static MG_NAME(acc) MG_NAME(beyond_one)(const MG_NAME(params) *p, uint32_t o, int32_t first, int32_t end)
{
    const MG_NAME(acc) outside = MG_NAME(outside)(p);
    uint32_t k = o * p->kernel_h * p->kernel_w;
    MG_NAME(acc) acc = 0;
    for (int32_t i = 0; i < (int32_t)p->kernel_h; i += 1) {
        for (int32_t j = first; j < end; j += 1) {
            acc += outside * MG_NAME(factor)(p, p->weights, k + (uint32_t)j);
        }
        k += p->kernel_w;
    }
    return acc;
}

/* Computes output channel o of an output row, from input channel c. */
static void MG_NAME(channel)(const MG_NAME(params) *p, const MG_NAME(x) *const *rows, uint32_t c, uint32_t o,
                             MG_NAME(x) *out)
{
    const int32_t step = (int32_t)p->dilation_w * (int32_t)p->in_c, width = (int32_t)p->kernel_w;
    for (uint32_t x = 0u; x < p->out_w; x += 1u) {
        const MG_NAME(place) at = MG_NAME(locate)(p, x);
        const int32_t offset = at.column * (int32_t)p->in_c + step * at.first + (int32_t)c;
        uint32_t k = o * p->kernel_h * p->kernel_w;
        MG_NAME(acc) acc = (MG_NAME(acc))p->bias[o];
        for (int32_t i = 0; i < (int32_t)p->kernel_h; i += 1) {
            const MG_NAME(x) *data = rows[i] + offset;
            for (int32_t j = at.first; j < at.end; j += 1) {
                acc += *data * MG_NAME(factor)(p, p->weights, k + (uint32_t)j);
                data += step;
            }
            k += p->kernel_w;
        }
        if (at.end - at.first < width) {
            acc += MG_NAME(beyond_one)(p, o, 0, at.first) + MG_NAME(beyond_one)(p, o, at.end, width);
        }
        out[x * p->out_c + o] = MG_NAME(store)(p, o, acc);
    }
}

void MG_SYMBOL(const MG_NAME(params) *p, const MG_NAME(x) *const *rows, uint32_t y, MG_NAME(x) *out)
{
    const uint32_t multiplier = p->depth_multiplier;
    const uint32_t fours = multiplier == 1u ? (uint32_t)p->in_c & ~3u : 0u;
    (void)y;
    for (uint32_t c = 0u; c < fours; c += 4u) {
        MG_NAME(four)(p, rows, c, out);
    }
    for (uint32_t c = fours; c < p->in_c; c += 1u) {
        for (uint32_t o = c * multiplier; o < (c + 1u) * multiplier; o += 1u) {
            MG_NAME(channel)(p, rows, c, o, out);
        }
    }
}
