/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/norm_s8.h"

#include "mcugen/dsp_norm.h"

void mg_norm_s8__dsp(const mg_norm_s8_params *p, const int8_t *x, int8_t *y, uint32_t n)
{
    const uint32_t length = p->norm.n, whole = length & ~3u, down = p->norm.down;
    for (uint32_t at = 0u; at < n * length; at += length) {
        const mg_dsp_norm_sums none = {0, 0u}, sums = mg_dsp_norm_add(none, x + at, length);
        const mg_norm_row row = mg_norm_of(&p->norm, sums.sum, sums.squares);
        const uint32_t back = 0u - row.origin;
        for (uint32_t i = 0u; i < whole; i += 4u) {
            const uint32_t word = mg_dsp_word(x + at + i);
            const uint32_t made = mg_dsp_norm_uneven(row, back, word, p->lines + 2u * i, down);
            (void)memcpy(y + at + i, &made, sizeof(made));
        }
        for (uint32_t i = whole; i < length; i += 1u) {
            const int32_t slope = mg_dsp_norm_slope(row.root, p->lines[2u * i]);
            y[at + i] = mg_dsp_norm_one(row, x[at + i], slope, p->lines[2u * i + 1u], down);
        }
    }
}
