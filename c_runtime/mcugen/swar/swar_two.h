/* SPDX-License-Identifier: Apache-2.0
 *
 * All output channels of a block of pixels.
 *
 * A word holds the weights of two channels, w0 + 65536 * w1, so that a multiplication serves both. The taps are grouped
 * when the code is generated, so that within a group each sum fits its 16 bits.
 */
#ifndef MCUGEN_SWAR_TWO_H
#define MCUGEN_SWAR_TWO_H

#include "mcugen/swar_s8.h"
#include "mcugen/swar_scale.h"

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
/* Sums of a block of pixels. both: the sums of both channels in one word, modulo 2^32. upper: the sum of the upper
 * channel. */
typedef struct {
    uint32_t both[MG_SWAR_PIXELS];
    int32_t upper[MG_SWAR_PIXELS];
} mg_swar_sums;

/* Adds a group: n words of weights that end at `words`, and n taps of each pixel that end at x. */
static inline void mg_swar_group(mg_swar_sums *s, const uint32_t *words, const uint8_t *x, uint32_t start, uint32_t n)
{
    uint32_t t0 = start, t1 = start, t2 = start, t3 = start;
    for (int32_t k = (int32_t)n; k > 0; k -= 1) {
        const uint32_t word = words[-k];
        const uint8_t *const taps = &x[-(int32_t)MG_SWAR_PIXELS * k];
        t0 += word * taps[0];
        t1 += word * taps[1];
        t2 += word * taps[2];
        t3 += word * taps[3];
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

#if !MG_SWAR_ASSEMBLY
/* Scales and stores output o of four pixels. */
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

/* Computes the sums of a pair. words: the stream behind the pair's first three words. */
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

/* Stores four bytes of a pixel, each plus 128, MG_SWAR_PIXELS bytes apart. */
static inline void mg_swar_spread_four(const int8_t *from, uint8_t *to)
{
    to[0] = (uint8_t)(from[0] + 128);
    to[MG_SWAR_PIXELS] = (uint8_t)(from[1] + 128);
    to[2u * MG_SWAR_PIXELS] = (uint8_t)(from[2] + 128);
    to[3u * MG_SWAR_PIXELS] = (uint8_t)(from[3] + 128);
}

/* Interleaves n bytes, each plus 128, of all pixels of a block. */
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
