/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: the kernels MG_ROW, MG_DEPTHWISE, MG_RUN and MG_VECTOR of quads_f32.h.
 */
#include "mcugen/quads_four_template.h"

/* Writes the address of the first tap of output column x in kernel row i to table[4 * i]. All taps are inside the
 * image. */
static void MG_NAME(inside)(const mg_quads_f32_params *p, const mg_f32 *const *rows, uint32_t x, mg_f32_row *table)
{
    const uint32_t at = (x * p->stride_w - p->pad_w) * p->in_c;
    for (uint32_t i = 0u; i < p->kernel_h; i += 1u) {
        table[4u * i] = rows[i] + at;
    }
}

/* Writes the address of each tap of output column x to table[4 * tap]; taps outside the image are zeros. */
static void MG_NAME(apart)(const mg_quads_f32_params *p, const mg_f32 *const *rows, uint32_t x, mg_f32_row *table)
{
    mg_f32_row *to = table;
    for (uint32_t i = 0u; i < p->kernel_h; i += 1u) {
        for (uint32_t j = 0u; j < p->kernel_w; j += 1u) {
            const uint32_t column = x * p->stride_w + j * p->dilation_w - p->pad_w;
            to[0] = column < p->in_w ? rows[i] + column * p->in_c : p->outside;
            to += 4;
        }
    }
}

/* Sets the pointers of output columns x to x + 3. A column that does not exist repeats the last one and writes to
 * `unused`. Returns 1 if runs are kernel rows, 0 if they are single taps. */
static uint32_t MG_NAME(place)(const mg_quads_f32_params *p, const mg_f32 *const *rows, uint32_t x, mg_f32 *out,
                               mg_f32_row *table, mg_f32 *unused, mg_quads_block *block)
{
    const uint32_t end = x + 4u < p->out_w ? x + 4u : p->out_w;
    const uint32_t is_inside = (uint32_t)(x >= p->inside_first && end <= p->inside_end);
    for (uint32_t i = 0u; i < 4u; i += 1u) {
        const uint32_t column = x + i < end ? x + i : end - 1u;
        if (is_inside != 0u) {
            MG_NAME(inside)(p, rows, column, table + i);
        } else {
            MG_NAME(apart)(p, rows, column, table + i);
        }
        block->out[i] = x + i < end ? out + column * p->outputs : unused;
    }
    block->runs = is_inside != 0u ? p->kernel_h : (uint32_t)p->kernel_h * p->kernel_w;
    return is_inside;
}

void MG_ROW(const mg_quads_f32_params *p, const mg_f32 *const *rows, uint32_t y, mg_f32 *out, void *scratch)
{
    mg_f32_row *const table = scratch;
    mg_f32 *const unused = (void *)(table + 4u * p->kernel_h * p->kernel_w);
    mg_quads_block block = {p->weights, table, 0u, 0u, 0u, p->kind, p->out_max, {NULL}};
    (void)y;
    for (uint32_t x = 0u; x < p->out_w; x += 4u) {
        const uint32_t by_rows = MG_NAME(place)(p, rows, x, out, table, unused, &block);
        block.run_length = by_rows != 0u ? (uint32_t)p->kernel_w * p->in_c : p->in_c;
        block.channels = p->outputs;
        MG_NAME(four)(&block);
    }
}

void MG_DEPTHWISE(const mg_quads_f32_params *p, const mg_f32 *const *rows, uint32_t y, mg_f32 *out,
                                    void *scratch)
{
    mg_f32_row *const table = scratch;
    mg_f32 *const unused = (void *)(table + 4u * p->kernel_h * p->kernel_w);
    mg_quads_block block = {p->weights, table, 0u, 0u, p->outputs, p->kind, p->out_max, {NULL}};
    (void)y;
    for (uint32_t x = 0u; x < p->out_w; x += 4u) {
        const uint32_t by_rows = MG_NAME(place)(p, rows, x, out, table, unused, &block);
        block.run_length = by_rows != 0u ? p->kernel_w : 1u;
        MG_NAME(depthwise)(&block, 4u * p->in_c);
    }
}

void MG_RUN(const mg_quads_f32_params *p, const mg_f32 *in, mg_f32 *out, void *scratch, uint32_t n)
{
    mg_f32 *const unused = scratch;
    mg_f32_row table[4];
    mg_quads_block block = {p->weights, table, 1u, p->taps, 0u, p->kind, p->out_max, {NULL}};
    for (uint32_t x = 0u; x < n; x += 4u) {
        for (uint32_t i = 0u; i < 4u; i += 1u) {
            const uint32_t pixel = x + i < n ? x + i : n - 1u;
            table[i] = in + pixel * p->taps;
            block.out[i] = x + i < n ? out + pixel * p->outputs : unused;
        }
        block.channels = p->outputs;
        MG_NAME(four)(&block);
    }
}

void MG_VECTOR(const mg_quads_f32_params *p, const mg_f32 *in, mg_f32 *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        mg_f32 *const y = out + i * p->outputs;
        MG_NAME(vector)(p->weights, in + i * p->taps, p->taps, p->outputs, y);
        if (p->kind != MG_QUADS_NONE) {
            const uint32_t outputs = p->outputs;
            for (uint32_t o = 0u; o < outputs; o += 1u) {
                y[o] = mg_quads_bounded(p->kind, p->out_max, y[o]);
            }
        }
    }
}
