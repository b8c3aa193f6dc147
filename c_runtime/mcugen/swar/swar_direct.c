/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/swar_direct.h"

#include "mcugen/swar_runs.h"

/* Collects the taps of column x, some of them outside the image. */
static void mg_swar_edge(const mg_swar_direct_params *p, const int8_t *const *rows, uint32_t x, int8_t *patch)
{
    int8_t *to = patch;
    for (uint32_t i = 0u; i < p->kernel_h; i += 1u) {
        for (uint32_t j = 0u; j < p->kernel_w; j += 1u) {
            const uint32_t column = x * p->stride_w + j * p->dilation_w - p->pad_w;
            const uint32_t step = column < p->in_w ? 1u : 0u;
            const int8_t *const from = step != 0u ? rows[i] + column * p->in_c : &p->outside;
            for (uint32_t k = 0u; k < p->in_c; k += 1u) {
                to[k] = from[k * step]; /* a loop that compilers do not replace by a call of memcpy or memset */
            }
            to += p->in_c;
        }
    }
}

/* Sets the pointers to the runs of column x, in every second entry of the table. patch: for the taps of a column that
 * reads outside the image. */
static void mg_swar_place(const mg_swar_direct_params *p, const int8_t *const *rows, uint32_t x, mg_swar_run *table,
                          int8_t *patch)
{
    const uint32_t inside = x >= p->inside_first && x < p->inside_end ? 1u : 0u;
    const uint32_t first = (x * p->stride_w - p->pad_w) * p->in_c;
    const uint32_t run_stride = inside != 0u ? p->run_stride : p->run_length;
    const int8_t *at = patch;
    mg_swar_run *to = table;
    if (inside == 0u) {
        mg_swar_edge(p, rows, x, patch);
    }
    for (uint32_t i = 0u; i < p->kernel_h; i += 1u) {
        at = inside != 0u ? rows[i] + first : at;
        for (uint32_t j = 0u; j < p->runs; j += 1u) {
            to[0] = at;
            to += 2;
            at += run_stride;
        }
    }
}

/* Computes all outputs of columns x and y, which may be the same. */
static void mg_swar_columns(const mg_swar_direct_params *p, const int8_t *const *rows, uint32_t x, uint32_t y, int8_t *out,
                            int8_t *patch)
{
    mg_swar_run table[2u * MG_SWAR_RUNS];
    const uint32_t inside = x >= p->inside_first && x < p->inside_end ? 1u : 0u, runs = (uint32_t)p->kernel_h * p->runs;
    mg_swar_place(p, rows, x, table, patch);
    if (y != x) {
        mg_swar_place(p, rows, y, table + 1, patch + (inside != 0u ? 0u : p->taps));
    } else {
        for (uint32_t i = 0u; i < 2u * runs; i += 2u) {
            table[i + 1u] = table[i];
        }
    }
    mg_swar_direct_two(p->stream, p->pairs, table, out + x * p->outputs, out + y * p->outputs, p->out_min, p->out_span,
                       runs);
}

/* Columns that read outside the image are computed first, because their taps may be stored in the memory of the outputs
 * of other columns.
 */
void mg_conv2d_s8__swar_direct(const mg_swar_direct_params *p, const int8_t *const *rows, uint32_t y, int8_t *out,
                               int8_t *scratch)
{
    const uint32_t within = (uint32_t)p->inside_end - p->inside_first, edges = p->out_w - within;
    const uint32_t together = p->patches == 1u ? 1u : 2u, rest = edges % together & within;
    const uint32_t end = p->inside_end - rest;
    int8_t *const patch = p->patches != 0u ? out + p->inside_first * p->outputs : scratch;
    (void)y;
    for (uint32_t e = 0u; e < edges; e += together) {
        const uint32_t both = e + together <= edges ? 1u : 0u, last = e + together - 1u;
        const uint32_t alone = rest != 0u ? p->inside_end - 1u : e + (e < p->inside_first ? 0u : within);
        const uint32_t next = both != 0u ? last + (last < p->inside_first ? 0u : within) : alone;
        mg_swar_columns(p, rows, e + (e < p->inside_first ? 0u : within), next, out, patch);
    }
    for (uint32_t x = p->inside_first; x < end; x += 2u) {
        mg_swar_columns(p, rows, x, x + 1u < end ? x + 1u : x, out, patch);
    }
}

void mg_conv2d_s8__swar_direct_pointwise(const mg_swar_direct_params *p, const int8_t *in, int8_t *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 2u) {
        const uint32_t next = i + 1u < n ? i + 1u : i;
        const mg_swar_run table[2] = {in + i * p->taps, in + next * p->taps};
        mg_swar_direct_two(p->stream, p->pairs, table, out + i * p->outputs, out + next * p->outputs, p->out_min,
                           p->out_span, 1u);
    }
}
