/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: a 3x3 convolution by Winograd's F(4, 3). dsp_winograd.h describes the algorithm and the layouts.
 *
 *   MG_QUADS   input channels / 4
 *   MG_TILES   tiles of an output row; a tile is four output columns
 *   MG_THREES  1: some tiles are computed three at a time
 *   MG_REST    1: some tiles are computed in pairs
 *   MG_LOOP    1: a loop over the rows of the window; 0: they are unrolled
 *   MG_ONCE    rounding of the results: 0: twice, as mg_requantize does; 1: once; 2: by a float multiplication
 */
#include "mcugen/dsp_clamp.h"
#include "mcugen/dsp_winograd.h"
#include "mcugen/dsp_winograd_block_template.h"

MG_DECLARE_conv2d_s8__winograd(MG_KERNEL);

#define MG_POSITION (MG_TILES * MG_QUADS * 2u)

static inline uint32_t MG_VARIANT(word)(const int8_t *x)
{
    uint32_t word;
    memcpy(&word, x, sizeof(word));
    return word ^ 0x80808080u;
}

/* Transforms six columns d0 to d5 of two channels, one channel in each half of a word, to v0 to v5 (dsp_winograd.h).
 * Each v is stored plus 2048, so that no half is negative. */
static inline void MG_VARIANT(transform)(uint32_t d0, uint32_t d1, uint32_t d2, uint32_t d3, uint32_t d4, uint32_t d5,
                                         mg_u32 *to)
{
    const uint32_t offset = 0x08000800u, q = 4u * d1 - d3, r = d3 - d1, s = d4 - d2 + offset, t = s - 3u * d2;
    to[0] = s + 4u * (d0 - d2);
    to[MG_POSITION] = t - q;
    to[2u * MG_POSITION] = t + q;
    to[3u * MG_POSITION] = s + 2u * r;
    to[4u * MG_POSITION] = s - 2u * r;
    to[5u * MG_POSITION] = d5 - d3 + offset - 4u * r;
}

/* Transforms four channels of six columns a to f: channels 0 and 2 to to[0], channels 1 and 3 to to[1]. */
static inline void MG_VARIANT(group)(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e, uint32_t f, mg_u32 *to)
{
    const uint32_t even = 0x00FF00FFu;
    MG_VARIANT(transform)(a & even, b & even, c & even, d & even, e & even, f & even, to);
    MG_VARIANT(transform)(a >> 8 & even, b >> 8 & even, c >> 8 & even, d >> 8 & even, e >> 8 & even, f >> 8 & even,
                          to + 1);
}

/* Transforms all channels of six columns from x on, all inside the image. */
static void MG_VARIANT(inside)(const int8_t *x, mg_u32 *to)
{
    const uint32_t column = 4u * MG_QUADS;
    for (uint32_t c = 0u; c < MG_QUADS; c += 1u) {
        const int8_t *const from = x + 4u * c;
        MG_VARIANT(group)(MG_VARIANT(word)(from), MG_VARIANT(word)(from + column), MG_VARIANT(word)(from + 2u * column),
                          MG_VARIANT(word)(from + 3u * column), MG_VARIANT(word)(from + 4u * column),
                          MG_VARIANT(word)(from + 5u * column), to + 2u * c);
    }
}

/* Four channels of column k of an image in_w columns wide; `outside` if there is no such column. */
static inline uint32_t MG_VARIANT(any)(const int8_t *in, uint32_t k, uint32_t in_w, uint32_t outside)
{
    return k < in_w ? MG_VARIANT(word)(in + k * (4u * MG_QUADS)) : outside;
}

/* Transforms all channels of columns k to k + 5, some of them outside the image. in_w: 0 for a row outside the image.
 */
static void MG_VARIANT(edge)(const int8_t *in, uint32_t k, uint32_t in_w, uint32_t outside, mg_u32 *to)
{
    for (uint32_t c = 0u; c < MG_QUADS; c += 1u) {
        const int8_t *const from = in_w != 0u ? in + 4u * c : in;
        const uint32_t a = MG_VARIANT(any)(from, k, in_w, outside), b = MG_VARIANT(any)(from, k + 1u, in_w, outside);
        const uint32_t d = MG_VARIANT(any)(from, k + 2u, in_w, outside), e = MG_VARIANT(any)(from, k + 3u, in_w, outside);
        const uint32_t f = MG_VARIANT(any)(from, k + 4u, in_w, outside), g = MG_VARIANT(any)(from, k + 5u, in_w, outside);
        MG_VARIANT(group)(a, b, d, e, f, g, to + 2u * c);
    }
}

/* First output column of tile t. The last tile is moved to the left so that it ends with the row. */
static inline uint32_t MG_VARIANT(start)(const mg_dsp_winograd_params *p, uint32_t t)
{
    const uint32_t last = p->out_w - 4u;
    return 4u * t < last ? 4u * t : last;
}

MG_LINKAGE void MG_VARIANT(row)(const mg_dsp_winograd_params *p, const int8_t *in, mg_s16 *row)
{
    mg_u32 *const to = (mg_u32 *)(void *)row;
    const uint32_t in_w = in == NULL ? 0u : p->in_w, outside = (uint32_t)(p->outside + 128) * 0x01010101u;
    for (uint32_t t = 0u; t < MG_TILES; t += 1u) {
        const uint32_t first = MG_VARIANT(start)(p, t) - p->pad;
        if (first < in_w && first + 6u <= in_w) {
            MG_VARIANT(inside)(in + first * (4u * MG_QUADS), to + t * (2u * MG_QUADS));
        } else {
            MG_VARIANT(edge)(in, first, in_w, outside, to + t * (2u * MG_QUADS));
        }
    }
}

/* Computes all channels of n tiles, starting with tile t. */
static void MG_VARIANT(tiles)(const mg_dsp_winograd_params *p, const mg_s16 *const *rows, int8_t *out, uint32_t t,
                              uint32_t n)
{
    mg_dsp_winograd_job job = {{NULL, NULL, NULL}, p->stream, p->stream + p->words, p->out_c, {out, out, out}};
    for (uint32_t k = 0u; k < 3u; k += 1u) {
        job.rows[k] = rows[k] + t * (4u * MG_QUADS);
        job.out[k] = out + MG_VARIANT(start)(p, t + k) * p->out_c;
    }
    MG_VARIANT(block)(&job, n);
}

MG_LINKAGE void MG_KERNEL(const mg_dsp_winograd_params *p, const mg_s16 *const *rows, int8_t *out)
{
    const uint32_t triples_end = p->triples_end;
    for (uint32_t t = 0u; t < triples_end; t += 3u) {
        MG_VARIANT(tiles)(p, rows, out, t, 3u);
    }
    for (uint32_t t = triples_end; t < MG_TILES; t += 2u) {
        MG_VARIANT(tiles)(p, rows, out, t, 2u);
    }
    if (p->clamps != 0u) {
        mg_dsp_clamp(out, p->low, p->high, (uint32_t)p->out_w * p->out_c);
    }
}

#undef MG_POSITION
