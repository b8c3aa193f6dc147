/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/norm_even_s8.h"

#include "mcugen/dsp_norm.h"

void mg_norm_even_s8__dsp(const mg_norm_even_s8_params *p, const int8_t *x, int8_t *y, uint32_t n)
{
    const uint32_t length = p->norm.n, whole = length & ~3u, down = p->norm.down;
    for (uint32_t at = 0u; at < n * length; at += length) {
        const mg_dsp_norm_sums none = {0, 0u}, sums = mg_dsp_norm_add(none, x + at, length);
        const mg_norm_row row = mg_norm_of(&p->norm, sums.sum, sums.squares);
        const int32_t slope = mg_dsp_norm_slope(row.root, p->gain), offset = p->offset;
        const uint32_t back = 0u - row.origin;
        for (uint32_t i = at; i < at + whole; i += 4u) {
            const uint32_t made = mg_dsp_norm_even(row, back, mg_dsp_word(x + i), slope, offset, down);
            (void)memcpy(y + i, &made, sizeof(made));
        }
        for (uint32_t i = at + whole; i < at + length; i += 1u) {
            y[i] = mg_dsp_norm_one(row, x[i], slope, offset, down);
        }
    }
}
