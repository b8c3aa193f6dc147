/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/columns.h"
#include "mcugen/conv2d_s8__mve_pairs.h"

MG_DECLARE_conv2d_s8__mve_pairs(MG_KERNEL);

#include "mcugen/conv2d_s8_shared_line__mve.h"

/* Pixels of a kernel row, `gap` bytes apart in the input's row. */
static inline int8_t *MG_VARIANT(copy)(int8_t *to, const int8_t *from, uint32_t n, uint32_t bytes, uint32_t gap)
{
    if (gap == bytes) {
        mg_copy_bytes(to, from, n * bytes);
    } else {
        for (uint32_t j = 0u; j < n; j += 1u) {
            mg_copy_bytes(to + j * bytes, from + j * gap, bytes);
        }
    }
    return to + n * bytes;
}

/* The patch of the window that begins at a column. */
static void MG_VARIANT(gather)(const mg_conv2d_s8__mve_pairs_params *p, const int8_t *const *rows, int32_t column, int8_t *to)
{
    const mg_columns inside = mg_columns_inside(column, p->kernel_w, p->dilation, p->in_w);
    const uint32_t bytes = p->in_c, gap = bytes * p->dilation, all = p->kernel_w * bytes, kernel_h = p->kernel_h;
    const uint32_t n = inside.end - inside.first, before = inside.first * bytes, after = all - inside.end * bytes;
    const int32_t start = (column + (int32_t)(inside.first * p->dilation)) * p->in_c;
    for (uint32_t k = 0u; k < kernel_h; k += 1u) {
        if (rows[k] == NULL) {
            mg_fill_bytes(to, p->in_zero_point, all);
            to += all;
        } else if (n * bytes == all) {
            to = MG_VARIANT(copy)(to, rows[k] + start, n, bytes, gap);
        } else {
            mg_fill_bytes(to, p->in_zero_point, before);
            to = MG_VARIANT(copy)(to + before, rows[k] + (n > 0u ? start : 0), n, bytes, gap);
            mg_fill_bytes(to, p->in_zero_point, after);
            to += after;
        }
    }
}

MG_LINKAGE void MG_KERNEL(const mg_conv2d_s8__mve_pairs_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, int8_t *scratch)
{
    mg_conv2d_s8__mve_shared_params pair = {.stream = p->stream, .out_w = 2u, .out_c = p->out_c};
    int32_t column = -(int32_t)p->left;
    (void)y;
    pair.out_zero_point = p->out_zero_point;
    pair.out_min = p->out_min;
    pair.out_max = p->out_max;
    pair.steps = p->steps;
    for (uint32_t x = 0u; x < p->out_w; x += 2u) {
        MG_VARIANT(gather)(p, rows, column, scratch);
        if (x + 1u < p->out_w) {
            MG_VARIANT(gather)(p, rows, column + p->stride, scratch + p->steps * 16u);
        } else {
            pair.out_w = 1u;
        }
        MG_VARIANT(line)(&pair, scratch, out);
        column += 2 * p->stride;
        out += 2u * p->out_c;
    }
}
#include "mcugen/finish_end__mve.h"
