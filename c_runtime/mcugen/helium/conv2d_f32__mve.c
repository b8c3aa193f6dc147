/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/conv2d_f32__mve.h"

#include "mcugen/columns.h"
#include "mcugen/f32_block__mve.h"

static mg_f32_block block_of(const mg_conv2d_f32__mve_params *p, const mg_f32 *const *rows, uint32_t height)
{
    mg_f32_block block = {p->weights, rows, NULL, 0u, 0u, 1u, 0u, 0u, 0u, 0u, 0u, NULL, 0u, 0, 0};
    block.rows_end = rows + height;
    block.out_step = p->outputs * 4u;
    block.low = p->low;
    block.high = p->high;
    return block;
}

/* n pixels: first three at a time, then two. */
static void pixels(const mg_conv2d_f32__mve_params *p, mg_f32_block *block, mg_f32 *out, uint32_t n)
{
    const uint32_t twos = n % 3u == 0u ? 0u : n % 3u == 2u ? 1u : n > 1u ? 2u : 0u, threes = (n - 2u * twos) / 3u;
    mg_f32 *to = out;
    for (uint32_t i = 0u; i < threes; i += 1u) {
        block->channels = p->outputs;
        block->out = to;
        mg_f32_block_3(block);
        block->at += 3u * block->step;
        to += 3u * p->outputs;
    }
    for (uint32_t i = 0u; i < twos; i += 1u) {
        block->channels = p->outputs;
        block->out = to;
        mg_f32_block_2(block);
        block->at += 2u * block->step;
        to += 2u * p->outputs;
    }
    if (n == 1u) {
        block->channels = p->outputs;
        block->out = to;
        mg_f32_block_1(block);
    }
}

/* Kernel columns [first, end) of a pixel whose first tap is in column `column`, which may be negative. */
static void place(const mg_conv2d_f32__mve_params *p, mg_f32_block *block, int32_t column, uint32_t first, uint32_t end)
{
    const uint32_t taps = end - first, channels = p->in_c;
    const uint32_t apart = (uint32_t)(p->dilation_w > 1u && taps > 1u);
    block->at = taps != 0u ? (uint32_t)(column + (int32_t)(first * p->dilation_w)) * channels * 4u : 0u;
    block->runs = apart != 0u ? taps : 1u;
    block->run = apart != 0u ? channels : taps * channels;
    block->run_gap = apart != 0u ? (p->dilation_w - 1u) * channels * 4u : 0u;
    block->lead = first * channels * 32u;
    block->row_gap = (p->kernel_w - taps) * channels * 32u;
}

/* A pixel with taps outside the image. */
static void edge(const mg_conv2d_f32__mve_params *p, mg_f32_block *block, uint32_t x, mg_f32 *out)
{
    const int32_t column = (int32_t)(x * p->stride_w) - p->pad_w;
    const mg_columns columns = mg_columns_inside(column, p->kernel_w, p->dilation_w, p->in_w);
    place(p, block, column, columns.first, columns.end);
    pixels(p, block, out, 1u);
}

void mg_conv2d_f32__mve(const mg_conv2d_f32__mve_params *p, const mg_f32 *const *rows, uint32_t y, mg_f32 *out)
{
    mg_f32_block block = block_of(p, rows, p->kernel_h);
    const uint32_t first = p->inside_first, end = p->inside_end;
    (void)y;
    block.step = (uint32_t)p->stride_w * p->in_c * 4u;
    for (uint32_t x = 0u; x < first; x += 1u) {
        edge(p, &block, x, out + x * p->outputs);
    }
    place(p, &block, (int32_t)(first * p->stride_w) - p->pad_w, 0u, p->kernel_w);
    pixels(p, &block, out + first * p->outputs, end - first);
    for (uint32_t x = end; x < p->out_w; x += 1u) {
        edge(p, &block, x, out + x * p->outputs);
    }
}

void mg_conv2d_f32__mve_pointwise(const mg_conv2d_f32__mve_params *p, const mg_f32 *in, mg_f32 *out, uint32_t n)
{
    const mg_f32 *const rows[1] = {in};
    mg_f32_block block = block_of(p, rows, 1u);
    block.run = p->taps;
    block.step = p->taps * 4u;
    pixels(p, &block, out, n);
}
