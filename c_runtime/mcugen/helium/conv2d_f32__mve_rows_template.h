/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: the kernels MG_ROW and MG_RUN of conv2d_f32__mve.h. MG_HALVES: defined if weights are float16.
 */
#if defined(MG_HALVES)
#define MG_EIGHT_WEIGHTS 16u
#else
#define MG_EIGHT_WEIGHTS 32u
#endif

#if !MG_HAS_MVE_FLOAT
/* Weight k of a tap. */
static inline float MG_NAME(weight)(const uint32_t *tap, uint32_t k)
{
#if defined(MG_HALVES)
    return mg_half_value((uint16_t)(tap[k / 2u] >> (16u * (k & 1u))));
#else
    float value;
    (void)memcpy(&value, tap + k, sizeof value);
    return value;
#endif
}
#endif

#define MG_PIXELS 1
#define MG_BLOCK MG_NAME(block_1)
#include "mcugen/f32_block__mve_template.h"
#undef MG_BLOCK
#undef MG_PIXELS
#define MG_PIXELS 2
#define MG_BLOCK MG_NAME(block_2)
#include "mcugen/f32_block__mve_template.h"
#undef MG_BLOCK
#undef MG_PIXELS
#define MG_PIXELS 3
#define MG_BLOCK MG_NAME(block_3)
#include "mcugen/f32_block__mve_template.h"
#undef MG_BLOCK
#undef MG_PIXELS

static mg_f32_block MG_NAME(block_of)(const mg_conv2d_f32__mve_params *p, const mg_f32 *const *rows, uint32_t height)
{
    mg_f32_block block = {p->weights, rows, NULL, 0u, 0u, 1u, 0u, 0u, 0u, 0u, 0u, NULL, 0u, 0, 0};
    block.rows_end = rows + height;
    block.out_step = p->outputs * 4u;
    block.low = p->low;
    block.high = p->high;
    return block;
}

/* Computes n pixels, first three at a time, then two. */
static void MG_NAME(pixels)(const mg_conv2d_f32__mve_params *p, mg_f32_block *block, mg_f32 *out, uint32_t n)
{
    const uint32_t twos = n % 3u == 0u ? 0u : n % 3u == 2u ? 1u : n > 1u ? 2u : 0u, threes = (n - 2u * twos) / 3u;
    mg_f32 *to = out;
    for (uint32_t i = 0u; i < threes; i += 1u) {
        block->channels = p->outputs;
        block->out = to;
        MG_NAME(block_3)(block);
        block->at += 3u * block->step;
        to += 3u * p->outputs;
    }
    for (uint32_t i = 0u; i < twos; i += 1u) {
        block->channels = p->outputs;
        block->out = to;
        MG_NAME(block_2)(block);
        block->at += 2u * block->step;
        to += 2u * p->outputs;
    }
    if (n == 1u) {
        block->channels = p->outputs;
        block->out = to;
        MG_NAME(block_1)(block);
    }
}

/* Sets the block to kernel columns [first, end) of a pixel. column: input column of the pixel's first tap; may be
 * negative. */
static void MG_NAME(place)(const mg_conv2d_f32__mve_params *p, mg_f32_block *block, int32_t column, uint32_t first, uint32_t end)
{
    const uint32_t taps = end - first, channels = p->in_c;
    const uint32_t dilated = (uint32_t)(p->dilation_w > 1u && taps > 1u);
    block->at = taps != 0u ? (uint32_t)(column + (int32_t)(first * p->dilation_w)) * channels * 4u : 0u;
    block->runs = dilated != 0u ? taps : 1u;
    block->run_length = dilated != 0u ? channels : taps * channels;
    block->run_gap = dilated != 0u ? (p->dilation_w - 1u) * channels * 4u : 0u;
    block->lead = first * channels * MG_EIGHT_WEIGHTS;
    block->row_gap = (p->kernel_w - taps) * channels * MG_EIGHT_WEIGHTS;
}

/* Computes a pixel that has taps outside the image. */
static void MG_NAME(edge)(const mg_conv2d_f32__mve_params *p, mg_f32_block *block, uint32_t x, mg_f32 *out)
{
    const int32_t column = (int32_t)(x * p->stride_w) - p->pad_w;
    const mg_columns columns = mg_columns_inside(column, p->kernel_w, p->dilation_w, p->in_w);
    MG_NAME(place)(p, block, column, columns.first, columns.end);
    MG_NAME(pixels)(p, block, out, 1u);
}

void MG_ROW(const mg_conv2d_f32__mve_params *p, const mg_f32 *const *rows, uint32_t y, mg_f32 *out)
{
    mg_f32_block block = MG_NAME(block_of)(p, rows, p->kernel_h);
    const uint32_t first = p->inside_first, end = p->inside_end;
    (void)y;
    block.step = (uint32_t)p->stride_w * p->in_c * 4u;
    for (uint32_t x = 0u; x < first; x += 1u) {
        MG_NAME(edge)(p, &block, x, out + x * p->outputs);
    }
    MG_NAME(place)(p, &block, (int32_t)(first * p->stride_w) - p->pad_w, 0u, p->kernel_w);
    MG_NAME(pixels)(p, &block, out + first * p->outputs, end - first);
    for (uint32_t x = end; x < p->out_w; x += 1u) {
        MG_NAME(edge)(p, &block, x, out + x * p->outputs);
    }
}

void MG_RUN(const mg_conv2d_f32__mve_params *p, const mg_f32 *in, mg_f32 *out, uint32_t n)
{
    const mg_f32 *const rows[1] = {in};
    mg_f32_block block = MG_NAME(block_of)(p, rows, 1u);
    block.run_length = p->taps;
    block.step = p->taps * 4u;
    MG_NAME(pixels)(p, &block, out, n);
}

#undef MG_EIGHT_WEIGHTS
