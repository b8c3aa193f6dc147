/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution of two pixels, channel by channel; on cores with many registers also of rows with 3x3 taps.
 */
#ifndef MCUGEN_SWAR_LANES_H
#define MCUGEN_SWAR_LANES_H

#include "mcugen/swar_s8.h"
#include "mcugen/swar_scale.h"

/* Two pixels of a depthwise convolution.
 * table   pointers to channel 0, [taps][2 pixels], up to `end`; taps is a multiple of 3
 * at      elements from these pointers to the taps of the current pixels
 * kind    bit 0: outputs may be below the zero point; bit 1: span is 255 */
typedef struct {
    const uint32_t *stream;
    const mg_swar_pointer *table, *end;
    uint32_t channels;
    int8_t *out0, *out1;
    int32_t low;
    uint32_t span, kind, at;
} mg_swar_lanes;

#if defined(__thumb2__) && defined(__GNUC__)
#include "mcugen/swar_lanes_thumb2.h"
#elif defined(__ARM_ARCH_6M__) && defined(__GNUC__)
#include "mcugen/swar_lanes_thumb1.h"
#else
/* The stream holds per channel: the bias; a word per tap; the multiplier in three parts, shift, rounding. */
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

/* Three input rows of a channel.
 * row0, row1, row2  the next column
 * left              columns of padding before the image; inside: columns of the image
 * step              elements from a column to the next
 * zero              value of columns outside the image */
typedef struct {
    const int8_t *row0, *row1, *row2;
    uint32_t left, inside, step;
    int32_t zero;
} mg_swar_walk;

/* Reads the next column of three rows. */
#define MG_SWAR_NEXT \
    x0 = *row0;      \
    x1 = *row1;      \
    x2 = *row2;      \
    row0 += step;    \
    row1 += step;    \
    row2 += step;

/* MG_SWAR_NEXT for a column that may be outside the image. column: its index, padding included. */
#define MG_SWAR_NEXT_OR_ZERO(column)                \
    x0 = walk->zero;                                \
    x1 = walk->zero;                                \
    x2 = walk->zero;                                \
    if ((column) - walk->left < walk->inside) {     \
        MG_SWAR_NEXT                                \
    }

/* Computes n outputs of a channel with 3x3 taps and a stride of 1. w: the channel's part of the stream. first, second:
 * sums of two unfinished outputs; their windows begin at the last column but one, and at the last column, that was
 * read. */
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

/* mg_swar_walk_by_one with a stride of 2 and at most one column of padding on the left. */
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

/* 1 if mg_swar_walk_rows serves the layer: 3x3 adjacent taps, a stride of 1 or 2. */
static inline uint32_t mg_swar_walks(const mg_swar_s8_params *p)
{
    const uint32_t square = p->kernel_h == 3u && p->kernel_w == 3u && p->dilation_w == 1u;
    return square & (p->stride_w == 1u || (p->stride_w == 2u && p->pad_w <= 1u));
}

/* Computes an output row of a depthwise convolution with 3x3 adjacent taps, channel by channel. */
static void mg_swar_walk_rows(const mg_swar_s8_params *p, const int8_t *const *rows, int8_t *out)
{
    const uint32_t *w = p->stream;
    for (uint32_t c = 0u; c < p->outputs; c += 1u) {
        const mg_swar_walk walk = {rows[0] + c, rows[1] + c, rows[2] + c, p->pad_w, p->in_w, p->in_c, p->outside[c]};
        const mg_swar_scale scale = mg_swar_scale_of(w + 10, p->kind & MG_SWAR_LINEAR, p->out_min, p->out_span);
        const uint32_t variant = (scale.below != 0 ? 2u : 0u) + (p->stride_w == 1u ? 1u : 0u);
        if (variant == 0u) {
            mg_swar_walk_by_two(&walk, w, p->out_w, &scale, out + c, 0u);
        } else if (variant == 1u) {
            mg_swar_walk_by_one(&walk, w, p->out_w, &scale, out + c, 0u);
        } else if (variant == 2u) {
            mg_swar_walk_by_two(&walk, w, p->out_w, &scale, out + c, 1u);
        } else {
            mg_swar_walk_by_one(&walk, w, p->out_w, &scale, out + c, 1u);
        }
        w += 15;
    }
}

#endif

#endif /* MCUGEN_SWAR_LANES_H */
