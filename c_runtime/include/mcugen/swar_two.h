/* SPDX-License-Identifier: Apache-2.0
 *
 * All output channels of two pixels, by multiplications that serve two channels each.
 * The stream of words is described in mcugen/ops/_swar.py, why its sums are exact too.
 */
#ifndef MCUGEN_SWAR_TWO_H
#define MCUGEN_SWAR_TWO_H

#include "mcugen/swar_s8.h"

/* Two pixels of a depthwise convolution. table: [taps][2] pointers to channel 0 up to `end`, taps a multiple of 3.
 * kind: 1 where outputs below the zero point count, and 2 where span is 255. */
typedef struct {
    const uint32_t *stream;
    const mg_swar_pointer *table, *end;
    uint32_t channels;
    int8_t *out0, *out1;
    int32_t low;
    uint32_t span, kind;
} mg_swar_lanes;

#if defined(__thumb2__) && defined(__GNUC__)
#include "mcugen/swar_two_thumb2.h"
#elif defined(__ARM_ARCH_6M__) && defined(__GNUC__)
#include "mcugen/swar_two_thumb1.h"
#else

#define MG_SWAR_LINEAR 1u
#define MG_SWAR_SINGLE 2u
#define MG_SWAR_FOUR 4u

/* The sums of two pixels: all of both channels modulo 2^32, and of the upper channel. */
typedef struct {
    uint32_t both0, both1;
    int32_t upper0, upper1;
} mg_swar_sums;

/* The tap k from the end of a group. */
#define MG_SWAR_TAP(k)                 \
    t0 += words[-(k)] * x[-2 * (k)];   \
    t1 += words[-(k)] * x[1 - 2 * (k)];

/* One group: n words before `words`, and n taps of each pixel before `x`. */
static inline void mg_swar_group(mg_swar_sums *s, const uint32_t *words, const uint8_t *x, uint32_t start, uint32_t n)
{
    uint32_t t0 = start, t1 = start;
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
    s->both0 += t0;
    s->both1 += t1;
    s->upper0 += (int32_t)t0 >> 16;
    s->upper1 += (int32_t)t1 >> 16;
}

/* floor((acc * mult + rounding) / 2^shift), less 1 before the last rounding where acc is negative and the kind linear. */
static inline int8_t mg_swar_finish(int32_t acc, const uint32_t *q, uint32_t kind, int32_t low, int32_t span)
{
    const uint32_t four = kind & MG_SWAR_FOUR;
    const uint32_t mult = four != 0u ? q[0] | q[1] << 8 | q[2] << 16 | q[3] << 24 : q[0] | q[1] << 10 | q[2] << 20;
    const uint32_t drop = four != 0u ? 6u : 10u;
    const uint32_t shift = (four != 0u ? q[5] : q[3]) - drop;
    const int32_t rounding = (int32_t)q[4] >> drop;
    const int32_t below = (kind & MG_SWAR_LINEAR) != 0u ? (acc >> 31) * 2 : 0;
    const int32_t high = (int32_t)(((int64_t)(acc * 4) * (int32_t)mult) >> 32);
    return (int8_t)(mg_clamp((high + rounding + below) >> shift, 0, span) + low);
}

static void mg_swar_two(const uint32_t *stream, uint32_t pairs, const uint8_t *patch, int8_t *out0, int8_t *out1,
                        int32_t low, uint32_t span)
{
    const uint32_t *w = stream;
    int8_t *to0 = out0, *to1 = out1;
    for (uint32_t pair = 0u; pair < pairs; pair += 1u) {
        mg_swar_sums s = {w[0], w[0], (int32_t)w[1], (int32_t)w[1]};
        const uint32_t groups = w[2];
        const uint8_t *x = patch;
        uint32_t kind, size;
        w += 3;
        for (uint32_t g = 0u; g < groups; g += 1u) {
            const uint32_t n = w[0] & 31u;
            const uint32_t start = w[0];
            w += n + 1u;
            x += 2u * n;
            mg_swar_group(&s, w, x, start, n);
        }
        kind = w[0] & 15u;
        size = (kind & MG_SWAR_FOUR) != 0u ? 6u : 5u;
        w += 1;
        if ((kind & MG_SWAR_SINGLE) == 0u) {
            to0[0] = mg_swar_finish((int32_t)(s.both0 - ((uint32_t)s.upper0 << 16)), w, kind, low, (int32_t)span);
            to1[0] = mg_swar_finish((int32_t)(s.both1 - ((uint32_t)s.upper1 << 16)), w, kind, low, (int32_t)span);
            w += size;
            to0 += 1;
            to1 += 1;
        }
        to0[0] = mg_swar_finish(s.upper0, w, kind, low, (int32_t)span);
        to1[0] = mg_swar_finish(s.upper1, w, kind, low, (int32_t)span);
        w += size;
        to0 += 1;
        to1 += 1;
    }
}

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
            acc0 += w0 * x[0][c] + w1 * x[2][c] + w2 * x[4][c];
            acc1 += w0 * x[1][c] + w1 * x[3][c] + w2 * x[5][c];
            w += 3;
        }
        block->out0[c] = mg_swar_finish(acc0, w, block->kind, block->low, (int32_t)block->span);
        block->out1[c] = mg_swar_finish(acc1, w, block->kind, block->low, (int32_t)block->span);
        w += 5;
    }
}

#endif

#if !defined(__ARM_ARCH_6M__) || !defined(__GNUC__)
/* n bytes of two pixels, side by side, + 128. */
static void mg_swar_spread(const int8_t *a, const int8_t *b, uint8_t *patch, uint32_t n)
{
    const uint32_t fours = n & ~3u;
    for (uint32_t k = 0u; k < fours; k += 4u) {
        const int8_t *const from0 = a + k;
        const int8_t *const from1 = b + k;
        uint8_t *const to = patch + 2u * k;
        to[0] = (uint8_t)(from0[0] + 128);
        to[1] = (uint8_t)(from1[0] + 128);
        to[2] = (uint8_t)(from0[1] + 128);
        to[3] = (uint8_t)(from1[1] + 128);
        to[4] = (uint8_t)(from0[2] + 128);
        to[5] = (uint8_t)(from1[2] + 128);
        to[6] = (uint8_t)(from0[3] + 128);
        to[7] = (uint8_t)(from1[3] + 128);
    }
    for (uint32_t k = fours; k < n; k += 1u) {
        patch[2u * k] = (uint8_t)(a[k] + 128);
        patch[2u * k + 1u] = (uint8_t)(b[k] + 128);
    }
}
#endif

#endif /* MCUGEN_SWAR_TWO_H */
