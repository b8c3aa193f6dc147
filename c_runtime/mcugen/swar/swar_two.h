/* SPDX-License-Identifier: Apache-2.0
 *
 * All output channels of a block of pixels, by multiplications that serve two channels each.
 * A word holds the weights of two channels, w0 + 65536 * w1, so that one multiplication serves both. The build has
 * grouped the taps so that neither sum leaves its 16 bits within a group.
 */
#ifndef MCUGEN_SWAR_TWO_H
#define MCUGEN_SWAR_TWO_H

#include "mcugen/swar_s8.h"

/* Two pixels of a depthwise convolution. table: [taps][2] pointers to channel 0 up to `end`, taps a multiple of 3.
 * at: elements from the pointers to the block's own columns. kind: 1 where outputs below the zero point count, and 2
 * where span is 255. */
typedef struct {
    const uint32_t *stream;
    const mg_swar_pointer *table, *end;
    uint32_t channels;
    int8_t *out0, *out1;
    int32_t low;
    uint32_t span, kind, at;
} mg_swar_lanes;

#define MG_SWAR_LINEAR 1u
#define MG_SWAR_SINGLE 2u
#define MG_SWAR_FOUR 4u

#if defined(__thumb2__) && defined(__GNUC__)
#include "mcugen/swar_two_thumb2.h"
#elif defined(__ARM_ARCH_6M__) && defined(__GNUC__)
#include "mcugen/swar_two_thumb1.h"
#else
#define MG_SWAR_PIXELS 4u

#if defined(__riscv_mul) && __riscv_xlen == 32 && !defined(__riscv_32e) && defined(__GNUC__)
#define MG_SWAR_ASSEMBLY 1
#include "mcugen/swar_two_riscv.h"
#else
#define MG_SWAR_ASSEMBLY 0
#endif

#if !MG_SWAR_ASSEMBLY
/* The sums of a block of pixels: all of both channels modulo 2^32, and of the upper channel. */
typedef struct {
    uint32_t both[MG_SWAR_PIXELS];
    int32_t upper[MG_SWAR_PIXELS];
} mg_swar_sums;

/* The tap k from the end of a group. */
#define MG_SWAR_TAP(k)                                     \
    t0 += words[-(k)] * x[-(int32_t)MG_SWAR_PIXELS * (k)]; \
    t1 += words[-(k)] * x[1 - (int32_t)MG_SWAR_PIXELS * (k)]; \
    t2 += words[-(k)] * x[2 - (int32_t)MG_SWAR_PIXELS * (k)]; \
    t3 += words[-(k)] * x[3 - (int32_t)MG_SWAR_PIXELS * (k)];

/* One group: n words before `words`, and n taps of each pixel before `x`. */
static inline void mg_swar_group(mg_swar_sums *s, const uint32_t *words, const uint8_t *x, uint32_t start, uint32_t n)
{
    uint32_t t0 = start, t1 = start, t2 = start, t3 = start;
    switch (n) {
    case 12:
        MG_SWAR_TAP(12) /* fall through */
    case 11:
        MG_SWAR_TAP(11) /* fall through */
    case 10:
        MG_SWAR_TAP(10) /* fall through */
    case 9:
        MG_SWAR_TAP(9) /* fall through */
    case 8:
        MG_SWAR_TAP(8) /* fall through */
    case 7:
        MG_SWAR_TAP(7) /* fall through */
    case 6:
        MG_SWAR_TAP(6) /* fall through */
    case 5:
        MG_SWAR_TAP(5) /* fall through */
    case 4:
        MG_SWAR_TAP(4) /* fall through */
    case 3:
        MG_SWAR_TAP(3) /* fall through */
    case 2:
        MG_SWAR_TAP(2) /* fall through */
    default:
        MG_SWAR_TAP(1)
    }
    s->both[0] += t0;
    s->both[1] += t1;
    s->both[2] += t2;
    s->both[3] += t3;
    s->upper[0] += (int32_t)t0 >> 16;
    s->upper[1] += (int32_t)t1 >> 16;
    s->upper[2] += (int32_t)t2 >> 16;
    s->upper[3] += (int32_t)t3 >> 16;
}

#endif

/* Constants that turn the sums of a channel into outputs. below: added if a sum is negative. */
typedef struct {
    int32_t mult, rounding, below, low, span;
    uint32_t shift;
} mg_swar_scale;

/* The multiplier comes in parts. Sums bring two bits, the high word of the product drops 32. */
static inline mg_swar_scale mg_swar_scale_of(const uint32_t *q, uint32_t kind, int32_t low, uint32_t span)
{
    const uint32_t four = kind & MG_SWAR_FOUR;
    const uint32_t mult = four != 0u ? q[0] | q[1] << 8 | q[2] << 16 | q[3] << 24 : q[0] | q[1] << 10 | q[2] << 20;
    const uint32_t drop = four != 0u ? 6u : 10u;
    mg_swar_scale scale = {(int32_t)mult, (int32_t)q[4] >> drop, 0, low, (int32_t)span, 0u};
    scale.below = (kind & MG_SWAR_LINEAR) != 0u ? -2 : 0;
    scale.shift = (four != 0u ? q[5] : q[3]) - drop;
    return scale;
}

/* y clamped to [0, span], and low. */
static inline int8_t mg_swar_clamp(const mg_swar_scale *scale, int32_t y)
{
    int32_t clamped = y;
    if ((uint32_t)y > (uint32_t)scale->span) {
        clamped = y < 0 ? 0 : scale->span;
    }
    return (int8_t)(clamped + scale->low);
}

/* floor((acc * mult + rounding) / 2^shift), less 1 before the last rounding where acc is negative and the kind linear.
 * */
static inline int8_t mg_swar_finish(const mg_swar_scale *scale, int32_t acc)
{
    const int32_t high = (int32_t)(((int64_t)(acc * 4) * scale->mult) >> 32);
    return mg_swar_clamp(scale, (high + scale->rounding + (acc >> 31 & scale->below)) >> scale->shift);
}

/* The same where negative sums are clamped. */
static inline int8_t mg_swar_finish_clamped(const mg_swar_scale *scale, int32_t acc)
{
    const int32_t high = (int32_t)(((int64_t)(acc * 4) * scale->mult) >> 32);
    return mg_swar_clamp(scale, (high + scale->rounding) >> scale->shift);
}

/* Either of them: linear is a constant where this is inlined. */
static MCUGEN_INLINE int8_t mg_swar_finish_as(uint32_t linear, const mg_swar_scale *scale, int32_t acc)
{
    return linear != 0u ? mg_swar_finish(scale, acc) : mg_swar_finish_clamped(scale, acc);
}

#if !MG_SWAR_ASSEMBLY
/* Output o of four pixels. */
static inline void mg_swar_finish_four(const mg_swar_scale *scale, int8_t *const *out, uint32_t o, int32_t a0, int32_t a1,
                                       int32_t a2, int32_t a3)
{
    if (scale->below != 0) {
        out[0][o] = mg_swar_finish(scale, a0);
        out[1][o] = mg_swar_finish(scale, a1);
        out[2][o] = mg_swar_finish(scale, a2);
        out[3][o] = mg_swar_finish(scale, a3);
    } else {
        out[0][o] = mg_swar_finish_clamped(scale, a0);
        out[1][o] = mg_swar_finish_clamped(scale, a1);
        out[2][o] = mg_swar_finish_clamped(scale, a2);
        out[3][o] = mg_swar_finish_clamped(scale, a3);
    }
}

/* The sums of a pair, from the stream after its head. */
static inline void mg_swar_pair(mg_swar_sums *s, const uint32_t *words, uint32_t groups, const uint8_t *patch)
{
    const uint32_t *w = words;
    const uint8_t *x = patch;
    for (uint32_t g = 0u; g < groups; g += 1u) {
        const uint32_t start = w[0], n = start & 31u;
        w += n + 1u;
        x += MG_SWAR_PIXELS * n;
        mg_swar_group(s, w, x, start, n);
    }
}

static void mg_swar_block(const uint32_t *stream, uint32_t pairs, const uint8_t *patch, int8_t *const *out, int32_t low,
                          uint32_t span, uint32_t taps)
{
    const uint32_t *w = stream;
    uint32_t o = 0u;
    for (uint32_t pair = 0u; pair < pairs; pair += 1u) {
        mg_swar_sums s = {{w[0], w[0], w[0], w[0]}, {(int32_t)w[1], (int32_t)w[1], (int32_t)w[1], (int32_t)w[1]}};
        const uint32_t groups = w[2];
        mg_swar_pair(&s, w + 3, groups, patch);
        w += 3u + groups + taps;
        const uint32_t kind = w[0] & 15u;
        const uint32_t size = (kind & MG_SWAR_FOUR) != 0u ? 6u : 5u;
        w += 1;
        if ((kind & MG_SWAR_SINGLE) == 0u) {
            const mg_swar_scale lower = mg_swar_scale_of(w, kind, low, span);
            mg_swar_finish_four(&lower, out, o, (int32_t)(s.both[0] - ((uint32_t)s.upper[0] << 16)),
                                (int32_t)(s.both[1] - ((uint32_t)s.upper[1] << 16)),
                                (int32_t)(s.both[2] - ((uint32_t)s.upper[2] << 16)),
                                (int32_t)(s.both[3] - ((uint32_t)s.upper[3] << 16)));
            w += size;
            o += 1u;
        }
        const mg_swar_scale upper = mg_swar_scale_of(w, kind, low, span);
        mg_swar_finish_four(&upper, out, o, s.upper[0], s.upper[1], s.upper[2], s.upper[3]);
        w += size;
        o += 1u;
    }
}

#endif

/* Per channel the stream holds the bias, a word for each tap, and a multiplier in three parts with its end. */
static void mg_swar_lanes_two(const mg_swar_lanes *block)
{
    const uint32_t *w = block->stream;
    const uint32_t pointers = (uint32_t)(block->end - block->table);
    for (uint32_t c = 0u; c < block->channels; c += 1u) {
        int32_t acc0 = (int32_t)w[0], acc1 = acc0;
        w += 1;
        for (uint32_t t = 0u; t < pointers; t += 6u) {
            const mg_swar_pointer *const x = block->table + t;
            const int32_t w0 = (int32_t)w[0], w1 = (int32_t)w[1], w2 = (int32_t)w[2];
            const uint32_t k = block->at + c;
            acc0 += w0 * x[0][k] + w1 * x[2][k] + w2 * x[4][k];
            acc1 += w0 * x[1][k] + w1 * x[3][k] + w2 * x[5][k];
            w += 3;
        }
        const mg_swar_scale scale = mg_swar_scale_of(w, block->kind & MG_SWAR_LINEAR, block->low, block->span);
        block->out0[c] = mg_swar_finish(&scale, acc0);
        block->out1[c] = mg_swar_finish(&scale, acc1);
        w += 5;
    }
}

#define MG_SWAR_WALKS 1

/* Where a channel of three rows is read next. left: columns of padding before it, then those of the image. */
typedef struct {
    const int8_t *row0, *row1, *row2;
    uint32_t left, inside, step;
    int32_t zero;
} mg_swar_walk;

/* The next column of three rows. */
#define MG_SWAR_NEXT \
    x0 = *row0;      \
    x1 = *row1;      \
    x2 = *row2;      \
    row0 += step;    \
    row1 += step;    \
    row2 += step;

/* The same where it may lie beyond the image: `column` of all, padding included. */
#define MG_SWAR_NEXT_OR_ZERO(column)                \
    x0 = walk->zero;                                \
    x1 = walk->zero;                                \
    x2 = walk->zero;                                \
    if ((column) - walk->left < walk->inside) {     \
        MG_SWAR_NEXT                                \
    }

/* A row of a channel, n outputs, 3x3 taps, a stride of 1. w: the channel's part of the stream. first, second: the sums
 * of the outputs that begin at the last column but one, and at the last. */
static MCUGEN_INLINE void mg_swar_walk_by_one(const mg_swar_walk *walk, const uint32_t *w, uint32_t n,
                                       const mg_swar_scale *of, int8_t *out, uint32_t linear)
{
    const mg_swar_scale scale = *of;
    const int32_t bias = (int32_t)w[0], w0 = (int32_t)w[1], w1 = (int32_t)w[2], w2 = (int32_t)w[3], w3 = (int32_t)w[4];
    const int32_t w4 = (int32_t)w[5], w5 = (int32_t)w[6], w6 = (int32_t)w[7], w7 = (int32_t)w[8], w8 = (int32_t)w[9];
    const uint32_t step = walk->step, all = walk->left + walk->inside, most = all > 2u ? all - 2u : 0u;
    const uint32_t fast = n < most ? n : most;
    const int8_t *row0 = walk->row0, *row1 = walk->row1, *row2 = walk->row2;
    int32_t x0, x1, x2, first, second;
    int8_t *to = out;
    MG_SWAR_NEXT_OR_ZERO(0u)
    first = bias + w0 * x0 + w3 * x1 + w6 * x2;
    MG_SWAR_NEXT_OR_ZERO(1u)
    first += w1 * x0 + w4 * x1 + w7 * x2;
    second = bias + w0 * x0 + w3 * x1 + w6 * x2;
    for (uint32_t x = 0u; x < fast; x += 1u) {
        MG_SWAR_NEXT
        *to = mg_swar_finish_as(linear, &scale, first + w2 * x0 + w5 * x1 + w8 * x2);
        to += step;
        first = second + w1 * x0 + w4 * x1 + w7 * x2;
        second = bias + w0 * x0 + w3 * x1 + w6 * x2;
    }
    for (uint32_t x = fast; x < n; x += 1u) {
        MG_SWAR_NEXT_OR_ZERO(x + 2u)
        *to = mg_swar_finish_as(linear, &scale, first + w2 * x0 + w5 * x1 + w8 * x2);
        to += step;
        first = second + w1 * x0 + w4 * x1 + w7 * x2;
        second = bias + w0 * x0 + w3 * x1 + w6 * x2;
    }
}

/* The same with a stride of 2 and at most one column of padding on the left. */
static MCUGEN_INLINE void mg_swar_walk_by_two(const mg_swar_walk *walk, const uint32_t *w, uint32_t n,
                                       const mg_swar_scale *of, int8_t *out, uint32_t linear)
{
    const mg_swar_scale scale = *of;
    const int32_t bias = (int32_t)w[0], w0 = (int32_t)w[1], w1 = (int32_t)w[2], w2 = (int32_t)w[3], w3 = (int32_t)w[4];
    const int32_t w4 = (int32_t)w[5], w5 = (int32_t)w[6], w6 = (int32_t)w[7], w7 = (int32_t)w[8], w8 = (int32_t)w[9];
    const uint32_t step = walk->step, most = (walk->left + walk->inside - 1u) / 2u, fast = n < most ? n : most;
    const int8_t *row0 = walk->row0, *row1 = walk->row1, *row2 = walk->row2;
    int32_t x0, x1, x2, sum;
    int8_t *to = out;
    MG_SWAR_NEXT_OR_ZERO(0u)
    sum = bias + w0 * x0 + w3 * x1 + w6 * x2;
    for (uint32_t x = 0u; x < fast; x += 1u) {
        MG_SWAR_NEXT
        sum += w1 * x0 + w4 * x1 + w7 * x2;
        MG_SWAR_NEXT
        *to = mg_swar_finish_as(linear, &scale, sum + w2 * x0 + w5 * x1 + w8 * x2);
        to += step;
        sum = bias + w0 * x0 + w3 * x1 + w6 * x2;
    }
    for (uint32_t x = fast; x < n; x += 1u) {
        MG_SWAR_NEXT_OR_ZERO(2u * x + 1u)
        sum += w1 * x0 + w4 * x1 + w7 * x2;
        MG_SWAR_NEXT_OR_ZERO(2u * x + 2u)
        *to = mg_swar_finish_as(linear, &scale, sum + w2 * x0 + w5 * x1 + w8 * x2);
        to += step;
        sum = bias + w0 * x0 + w3 * x1 + w6 * x2;
    }
}

/* Whether rows are walked: 3x3 taps side by side, a stride of 1 or 2. */
static inline uint32_t mg_swar_walks(const mg_swar_s8_params *p)
{
    const uint32_t square = p->kernel_h == 3u && p->kernel_w == 3u && p->dilation_w == 1u;
    return square & (p->stride_w == 1u || (p->stride_w == 2u && p->pad_w <= 1u));
}

/* A row of a depthwise convolution with 3x3 taps side by side, channel by channel. */
static void mg_swar_walk_rows(const mg_swar_s8_params *p, const int8_t *const *rows, int8_t *out)
{
    const uint32_t *w = p->stream;
    for (uint32_t c = 0u; c < p->outputs; c += 1u) {
        const mg_swar_walk walk = {rows[0] + c, rows[1] + c, rows[2] + c, p->pad_w, p->in_w, p->in_c, p->outside[c]};
        const mg_swar_scale scale = mg_swar_scale_of(w + 10, p->kind & MG_SWAR_LINEAR, p->out_min, p->out_span);
        const uint32_t how = (scale.below != 0 ? 2u : 0u) + (p->stride_w == 1u ? 1u : 0u);
        if (how == 0u) {
            mg_swar_walk_by_two(&walk, w, p->out_w, &scale, out + c, 0u);
        } else if (how == 1u) {
            mg_swar_walk_by_one(&walk, w, p->out_w, &scale, out + c, 0u);
        } else if (how == 2u) {
            mg_swar_walk_by_two(&walk, w, p->out_w, &scale, out + c, 1u);
        } else {
            mg_swar_walk_by_one(&walk, w, p->out_w, &scale, out + c, 1u);
        }
        w += 15;
    }
}

/* Four bytes of a pixel, + 128. */
static inline void mg_swar_spread_four(const int8_t *from, uint8_t *to)
{
    to[0] = (uint8_t)(from[0] + 128);
    to[MG_SWAR_PIXELS] = (uint8_t)(from[1] + 128);
    to[2u * MG_SWAR_PIXELS] = (uint8_t)(from[2] + 128);
    to[3u * MG_SWAR_PIXELS] = (uint8_t)(from[3] + 128);
}

/* n bytes of each pixel of a block, side by side, + 128. */
static void mg_swar_spread(const int8_t *const *from, uint8_t *patch, uint32_t n)
{
    const int8_t *const x0 = from[0];
    const int8_t *const x1 = from[1];
    const int8_t *const x2 = from[2];
    const int8_t *const x3 = from[3];
    const uint32_t fours = n & ~3u;
    for (uint32_t k = 0u; k < fours; k += 4u) {
        uint8_t *const to = patch + MG_SWAR_PIXELS * k;
        mg_swar_spread_four(x0 + k, to);
        mg_swar_spread_four(x1 + k, to + 1);
        mg_swar_spread_four(x2 + k, to + 2);
        mg_swar_spread_four(x3 + k, to + 3);
    }
    for (uint32_t k = fours; k < n; k += 1u) {
        uint8_t *const to = patch + MG_SWAR_PIXELS * k;
        to[0] = (uint8_t)(x0[k] + 128);
        to[1] = (uint8_t)(x1[k] + 128);
        to[2] = (uint8_t)(x2[k] + 128);
        to[3] = (uint8_t)(x3[k] + 128);
    }
}

#endif

#endif /* MCUGEN_SWAR_TWO_H */
