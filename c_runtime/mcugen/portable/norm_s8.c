/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * s8 -> s16_s8, const int8_t -> const mg_s16, uint32_t squares -> uint64_t squares
 * s8 -> s16, INT8 -> INT16, int8_t -> mg_s16, uint32_t squares -> uint64_t squares
 */
#include "mcugen/norm_s8.h"

void mg_norm_s8(const mg_norm_s8_params *p, const int8_t *x, int8_t *y, uint32_t n)
{
    const uint32_t length = p->norm.n;
    for (uint32_t at = 0u; at < n * length; at += length) {
        int32_t sum = 0;
        uint32_t squares = 0u;
        for (uint32_t i = at; i < at + length; i += 1u) {
            const int32_t q = x[i];
            sum += q;
            squares += (uint32_t)(q * q);
        }
        const mg_norm_row row = mg_norm_of(&p->norm, sum, squares);
        for (uint32_t i = 0u; i < length; i += 1u) {
            const int32_t slope = mg_norm_slope(row, p->lines[2u * i]);
            const int32_t v = mg_norm_element(row, x[at + i], slope, p->lines[2u * i + 1u], p->norm.down);
            y[at + i] = (int8_t)mg_clamp(v, INT8_MIN, INT8_MAX);
        }
    }
}
