/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/swar_s8.h"

#include "mcugen/swar_two.h"

/* Column c of a row, or one outside the image. */
static const int8_t *mg_swar_column(const mg_swar_s8_params *p, const int8_t *row, uint32_t c)
{
    return c < p->in_w ? row + c * p->in_c : p->outside;
}

/* The taps of output columns x and next, one by one: at the borders of the image, and where they do not stand side by
 * side. */
static void mg_swar_gather(const mg_swar_s8_params *p, const int8_t *const *rows, uint32_t x, uint32_t next, uint8_t *patch)
{
    uint8_t *to = patch;
    for (uint32_t i = 0u; i < p->kernel_h; i += 1u) {
        for (uint32_t j = 0u; j < p->kernel_w; j += 1u) {
            const uint32_t at = j * p->dilation_w - p->pad_w;
            const int8_t *const a = mg_swar_column(p, rows[i], x * p->stride_w + at);
            const int8_t *const b = mg_swar_column(p, rows[i], next * p->stride_w + at);
            mg_swar_spread(a, b, to, p->in_c);
            to += 2u * p->in_c;
        }
    }
}

void mg_conv2d_s8__swar(const mg_swar_s8_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, void *scratch)
{
    uint8_t *const patch = scratch;
    int8_t *const unused = (int8_t *)scratch + 2u * p->taps;
    const uint32_t run = (uint32_t)p->kernel_w * p->in_c;
    (void)y;
    for (uint32_t x = 0u; x < p->out_w; x += 2u) {
        int8_t *const to = out + x * p->outputs;
        const uint32_t next = x + 1u < p->out_w ? x + 1u : x;
        if (x >= p->inside_first && next < p->inside_end) {
            const uint32_t at = (x * p->stride_w - p->pad_w) * p->in_c;
            const uint32_t step = (next - x) * p->stride_w * p->in_c;
            for (uint32_t i = 0u; i < p->kernel_h; i += 1u) {
                const int8_t *const from = rows[i] + at;
                mg_swar_spread(from, from + step, patch + 2u * i * run, run);
            }
        } else {
            mg_swar_gather(p, rows, x, next, patch);
        }
        mg_swar_two(p->stream, p->pairs, patch, to, next > x ? to + p->outputs : unused, p->out_min, p->out_span);
    }
}

/* The pointers of output columns x and next. */
static void mg_swar_point(const mg_swar_s8_params *p, const int8_t *const *rows, uint32_t x, uint32_t next,
                          mg_swar_pointer *table)
{
    const uint32_t taps = (uint32_t)p->kernel_h * p->kernel_w;
    mg_swar_pointer *to = table;
    for (uint32_t i = 0u; i < p->kernel_h; i += 1u) {
        for (uint32_t j = 0u; j < p->kernel_w; j += 1u) {
            const uint32_t at = j * p->dilation_w - p->pad_w;
            to[0] = mg_swar_column(p, rows[i], x * p->stride_w + at);
            to[1] = mg_swar_column(p, rows[i], next * p->stride_w + at);
            to += 2;
        }
    }
    for (uint32_t k = taps; k < p->taps; k += 1u) {
        table[2u * k] = p->outside;
        table[2u * k + 1u] = p->outside;
    }
}

void mg_depthwise_conv2d_s8__swar(const mg_swar_s8_params *p, const int8_t *const *rows, uint32_t y, int8_t *out,
                                  void *scratch)
{
    mg_swar_pointer *const table = scratch;
    mg_swar_pointer *const end = table + 2u * p->taps;
    const uint32_t pointers = 2u * (uint32_t)p->kernel_h * p->kernel_w;
    const uint32_t step = 2u * p->stride_w * p->in_c;
    mg_swar_lanes block = {p->stream, table, end, p->outputs, NULL, NULL, p->out_min, p->out_span, p->kind};
    (void)y;
    for (uint32_t x = 0u; x < p->out_w; x += 2u) {
        const uint32_t next = x + 1u < p->out_w ? x + 1u : x;
        if (x >= p->inside_first + 2u && x + 1u < p->inside_end) {
            for (uint32_t k = 0u; k < pointers; k += 2u) {
                table[k] += step;
                table[k + 1u] += step;
            }
        } else {
            mg_swar_point(p, rows, x, next, table);
        }
        block.out0 = out + x * p->outputs;
        block.out1 = next > x ? block.out0 + p->outputs : (int8_t *)(void *)end;
        mg_swar_lanes_two(&block);
    }
}

void mg_conv2d_s8__swar_pointwise(const mg_swar_s8_params *p, const int8_t *in, int8_t *out, void *scratch, uint32_t n)
{
    uint8_t *const patch = scratch;
    int8_t *const unused = (int8_t *)scratch + 2u * p->taps;
    for (uint32_t i = 0u; i < n; i += 2u) {
        const int8_t *const from = in + i * p->taps;
        int8_t *const to = out + i * p->outputs;
        const uint32_t more = (uint32_t)(i + 1u < n);
        mg_swar_spread(from, from + more * p->taps, patch, p->taps);
        mg_swar_two(p->stream, p->pairs, patch, to, more != 0u ? to + p->outputs : unused, p->out_min, p->out_span);
    }
}
