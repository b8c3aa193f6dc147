/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/pad_rows_f32.h"

static void fill(mg_f32 *out, uint32_t n, float value)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        out[i] = value;
    }
}

void mg_pad_rows_f32(const mg_pad_rows_f32_params *p, const mg_f32 *const *rows, uint32_t y, mg_f32 *out)
{
    const float value = p->value;
    const mg_f32 *from = rows[0];
    mg_f32 *to = out + p->before;
    (void)y;
    fill(out, p->before, value);
    for (uint32_t i = 1u; i < p->runs; i += 1u) {
        (void)memcpy(to, from, p->run * sizeof(*to));
        fill(to + p->run, p->gap, value);
        from += p->run;
        to += p->run + p->gap;
    }
    (void)memcpy(to, from, p->run * sizeof(*to));
    fill(to + p->run, p->after, value);
}
