/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/pad_rows_s8.h"

static void fill(int8_t *out, uint32_t n, int8_t value)
{
    (void)memset(out, (uint8_t)value, n);
}

void mg_pad_rows_s8(const mg_pad_rows_s8_params *p, const int8_t *const *rows, uint32_t y, int8_t *out)
{
    const int8_t value = (int8_t)p->value;
    const int8_t *from = rows[0];
    int8_t *to = out + p->before;
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
