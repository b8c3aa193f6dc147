/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: an output row of a depthwise convolution, two pixels at a time, see swar_s8.h. MG_ROOM: number of taps
 * whose pointers are on the stack; 0: the pointers are in scratch.
 */
#include "mcugen/swar_lanes.h"

MG_DECLARE_SWAR_DEPTHWISE(MG_KERNEL);

/* Sets the pointers to the taps of output columns x and next. */
static void MG_VARIANT(point)(const mg_swar_s8_params *p, const int8_t *const *rows, uint32_t x, uint32_t next,
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
        table[2u * k] = table[0];
        table[2u * k + 1u] = table[1];
    }
}

/* Computes the row with a table of pointers. A last column without a partner is computed twice. */
static void MG_VARIANT(by_two)(const mg_swar_s8_params *p, const int8_t *const *rows, int8_t *out, mg_swar_pointer *table)
{
    const uint32_t step = (uint32_t)p->stride_w * p->in_c;
    mg_swar_lanes block = {p->stream, table, table + 2u * p->taps, p->outputs, NULL, NULL, p->out_min, p->out_span,
                           p->kind, 0u};
    uint32_t table_x = 0u;
    for (uint32_t x = 0u; x < p->out_w; x += 2u) {
        const uint32_t next = x + 1u < p->out_w ? x + 1u : x;
        if (x < p->inside_first + 2u || x + 1u >= p->inside_end) {
            MG_VARIANT(point)(p, rows, x, next, table);
            table_x = x;
        }
        block.at = (x - table_x) * step;
        block.out0 = out + x * p->outputs;
        block.out1 = out + next * p->outputs;
        mg_swar_lanes_two(&block);
    }
}

MG_LINKAGE void MG_KERNEL(const mg_swar_s8_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, void *scratch)
{
#if MG_ROOM
    mg_swar_pointer table[2u * MG_ROOM];
    (void)scratch;
#else
    mg_swar_pointer *const table = scratch;
#endif
    (void)y;
#ifdef MG_SWAR_WALKS
    if (mg_swar_walks(p) != 0u) {
        mg_swar_walk_rows(p, rows, out);
        return;
    }
#endif
    MG_VARIANT(by_two)(p, rows, out, table);
}
