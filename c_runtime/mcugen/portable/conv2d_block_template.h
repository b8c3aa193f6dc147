/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: the inner part of the convolutions, all output channels of a group for one pixel, or for two at once.
 * A pixel's taps are `runs` runs of `run` elements, and run r of a pixel begins at rows[r] + its offset.
 * Weights of a pair of output channels are interleaved.
 */
#include "mcugen/weights_template.h"
#include "mcugen/nine_template.h"

typedef struct {
    const MG_NAME(x) *const *rows;
    uint32_t runs, run;
} MG_NAME(taps);

/* Correction that is added to each sum of a pixel, for weights of 9 bits; see nine_template.h. */
static inline MG_NAME(acc) MG_NAME(lacks)(const MG_NAME(params) *p, const MG_NAME(taps) *t, int32_t offset)
{
    MG_NAME(acc) lack = 0;
    for (uint32_t r = 0u; r < t->runs; r += 1u) {
        lack += MG_NAME(lack)(p, t->rows[r] + offset, t->run);
    }
    return lack;
}

/* Adds one tap to the sums of two pixels and two channels. acc: channels 0 and 1 of pixel 0, then of pixel 1. */
static inline void MG_NAME(tap_2x2)(MG_NAME(acc) *acc, MG_NAME(acc) x0, MG_NAME(acc) x1, MG_NAME(acc) w0, MG_NAME(acc) w1)
{
    acc[0] += x0 * w0;
    acc[1] += x0 * w1;
    acc[2] += x1 * w0;
    acc[3] += x1 * w1;
}

/* acc[2 * pixel + channel] += sum over k < n of x_pixel[k] * w[2 * k + channel] */
static inline void MG_NAME(dot_2x2)(MG_NAME(acc) *acc, const MG_NAME(x) *x0, const MG_NAME(x) *x1, const MG_NAME(w) *w,
                                    uint32_t n)
{
    const uint32_t quads = n & ~3u;
    for (uint32_t k = 0u; k < quads; k += 4u) {
        const MG_NAME(x) *const p0 = x0 + k;
        const MG_NAME(x) *const p1 = x1 + k;
        const MG_NAME(w) *const q = MG_NAME(from)(w, 2u * k);
        MG_NAME(tap_2x2)(acc, p0[0], p1[0], MG_NAME(weight)(q, 0u), MG_NAME(weight)(q, 1u));
        MG_NAME(tap_2x2)(acc, p0[1], p1[1], MG_NAME(weight)(q, 2u), MG_NAME(weight)(q, 3u));
        MG_NAME(tap_2x2)(acc, p0[2], p1[2], MG_NAME(weight)(q, 4u), MG_NAME(weight)(q, 5u));
        MG_NAME(tap_2x2)(acc, p0[3], p1[3], MG_NAME(weight)(q, 6u), MG_NAME(weight)(q, 7u));
    }
    for (uint32_t k = quads; k < n; k += 1u) {
        MG_NAME(tap_2x2)(acc, x0[k], x1[k], MG_NAME(weight)(w, 2u * k), MG_NAME(weight)(w, 2u * k + 1u));
    }
}

/* dot_2x2 for one pixel. */
static inline void MG_NAME(dot_1x2)(MG_NAME(acc) *acc, const MG_NAME(x) *x, const MG_NAME(w) *w, uint32_t n)
{
    for (uint32_t k = 0u; k < n; k += 1u) {
        acc[0] += (MG_NAME(acc))x[k] * MG_NAME(weight)(w, 2u * k);
        acc[1] += (MG_NAME(acc))x[k] * MG_NAME(weight)(w, 2u * k + 1u);
    }
}

/* Adds one tap to the sums of one pixel and four channels, with two pairs of weights. */
static inline void MG_NAME(tap_1x4)(MG_NAME(acc) *acc, MG_NAME(acc) x, const MG_NAME(w) *w0, const MG_NAME(w) *w1)
{
    acc[0] += x * MG_NAME(weight)(w0, 0u);
    acc[1] += x * MG_NAME(weight)(w0, 1u);
    acc[2] += x * MG_NAME(weight)(w1, 0u);
    acc[3] += x * MG_NAME(weight)(w1, 1u);
}

/* dot_2x2 for one pixel and four channels. w0, w1: weights of channels 0 and 1, and of channels 2 and 3. */
static inline void MG_NAME(dot_1x4)(MG_NAME(acc) *acc, const MG_NAME(x) *x, const MG_NAME(w) *w0, const MG_NAME(w) *w1,
                                    uint32_t n)
{
    const uint32_t quads = n & ~3u;
    for (uint32_t k = 0u; k < quads; k += 4u) {
        const MG_NAME(x) *const p = x + k;
        const MG_NAME(w) *const q0 = MG_NAME(from)(w0, 2u * k);
        const MG_NAME(w) *const q1 = MG_NAME(from)(w1, 2u * k);
        MG_NAME(tap_1x4)(acc, p[0], q0, q1);
        MG_NAME(tap_1x4)(acc, p[1], MG_NAME(from)(q0, 2u), MG_NAME(from)(q1, 2u));
        MG_NAME(tap_1x4)(acc, p[2], MG_NAME(from)(q0, 4u), MG_NAME(from)(q1, 4u));
        MG_NAME(tap_1x4)(acc, p[3], MG_NAME(from)(q0, 6u), MG_NAME(from)(q1, 6u));
    }
    for (uint32_t k = quads; k < n; k += 1u) {
        MG_NAME(tap_1x4)(acc, x[k], MG_NAME(from)(w0, 2u * k), MG_NAME(from)(w1, 2u * k));
    }
}

/* Computes channel o of one pixel, the last of an odd number of channels. */
static void MG_NAME(last)(const MG_NAME(params) *p, const MG_NAME(taps) *t, uint32_t o, int32_t offset, MG_NAME(acc) lack,
                          MG_NAME(x) *out)
{
    const MG_NAME(w) *const w = MG_NAME(from)(p->weights, o * t->runs * t->run);
    MG_NAME(acc) acc = MG_NAME(start)(p, o, lack);
    for (uint32_t r = 0u; r < t->runs; r += 1u) {
        const MG_NAME(x) *const x = t->rows[r] + offset;
        for (uint32_t k = 0u; k < t->run; k += 1u) {
            acc += (MG_NAME(acc))x[k] * MG_NAME(weight)(w, r * t->run + k);
        }
    }
    out[o] = MG_NAME(store)(p, o, acc);
}

/* Computes channels [first, first + group_out_c) of one pixel. */
static inline void MG_NAME(one)(const MG_NAME(params) *p, const MG_NAME(taps) *t, uint32_t first, int32_t offset,
                                MG_NAME(x) *out)
{
    const uint32_t fours = first + ((uint32_t)p->group_out_c & ~3u);
    const uint32_t pairs = first + ((uint32_t)p->group_out_c & ~1u);
    const uint32_t taps = t->runs * t->run;
    const MG_NAME(acc) lack = MG_NAME(lacks)(p, t, offset);
    for (uint32_t o = first; o < fours; o += 4u) {
        const MG_NAME(w) *const w = MG_NAME(from)(p->weights, o * taps);
        MG_NAME(acc) acc[4] = {MG_NAME(start)(p, o, lack), MG_NAME(start)(p, o + 1u, lack),
                               MG_NAME(start)(p, o + 2u, lack), MG_NAME(start)(p, o + 3u, lack)};
        for (uint32_t r = 0u; r < t->runs; r += 1u) {
            const uint32_t at = 2u * r * t->run;
            MG_NAME(dot_1x4)(acc, t->rows[r] + offset, MG_NAME(from)(w, at), MG_NAME(from)(w, 2u * taps + at), t->run);
        }
        for (uint32_t i = 0u; i < 4u; i += 1u) {
            out[o + i] = MG_NAME(store)(p, o + i, acc[i]);
        }
    }
    for (uint32_t o = fours; o < pairs; o += 2u) {
        const MG_NAME(w) *const w = MG_NAME(from)(p->weights, o * taps);
        MG_NAME(acc) acc[2] = {MG_NAME(start)(p, o, lack), MG_NAME(start)(p, o + 1u, lack)};
        for (uint32_t r = 0u; r < t->runs; r += 1u) {
            MG_NAME(dot_1x2)(acc, t->rows[r] + offset, MG_NAME(from)(w, 2u * r * t->run), t->run);
        }
        for (uint32_t i = 0u; i < 2u; i += 1u) {
            out[o + i] = MG_NAME(store)(p, o + i, acc[i]);
        }
    }
    if (pairs < first + p->group_out_c) {
        MG_NAME(last)(p, t, pairs, offset, lack, out);
    }
}

/* `one` for two pixels. out: outputs of the first pixel; the outputs of the second pixel begin out_c elements behind.
 */
static inline void MG_NAME(two)(const MG_NAME(params) *p, const MG_NAME(taps) *t, uint32_t first, int32_t offset0,
                                int32_t offset1, MG_NAME(x) *out)
{
    const uint32_t pairs = first + ((uint32_t)p->group_out_c & ~1u);
    const uint32_t taps = t->runs * t->run;
    MG_NAME(x) *const out1 = out + p->out_c;
    const MG_NAME(acc) lack0 = MG_NAME(lacks)(p, t, offset0), lack1 = MG_NAME(lacks)(p, t, offset1);
    for (uint32_t o = first; o < pairs; o += 2u) {
        const MG_NAME(w) *const w = MG_NAME(from)(p->weights, o * taps);
        MG_NAME(acc) acc[4] = {MG_NAME(start)(p, o, lack0), MG_NAME(start)(p, o + 1u, lack0),
                               MG_NAME(start)(p, o, lack1), MG_NAME(start)(p, o + 1u, lack1)};
        for (uint32_t r = 0u; r < t->runs; r += 1u) {
            MG_NAME(dot_2x2)(acc, t->rows[r] + offset0, t->rows[r] + offset1, MG_NAME(from)(w, 2u * r * t->run),
                              t->run);
        }
        out[o] = MG_NAME(store)(p, o, acc[0]);
        out[o + 1u] = MG_NAME(store)(p, o + 1u, acc[1]);
        out1[o] = MG_NAME(store)(p, o, acc[2]);
        out1[o + 1u] = MG_NAME(store)(p, o + 1u, acc[3]);
    }
    if (pairs < first + p->group_out_c) {
        MG_NAME(last)(p, t, pairs, offset0, lack0, out);
        MG_NAME(last)(p, t, pairs, offset1, lack1, out1);
    }
}
