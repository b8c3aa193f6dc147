/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * s16 -> f32, int16_t -> float
 */
#include "mcugen/pad_rows_s16.h"

static void fill(mg_s16 *out, uint32_t n, int16_t value)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        out[i] = value;
    }
}

void mg_pad_rows_s16(const mg_pad_rows_s16_params *p, const mg_s16 *const *rows, uint32_t y, mg_s16 *out)
{
    const int16_t value = (int16_t)p->value;
    const mg_s16 *from = rows[0];
    mg_s16 *to = out + p->before;
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
