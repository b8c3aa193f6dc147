/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * s8 -> s16_s8, const int8_t -> const mg_s16, uint32_t squares -> uint64_t squares
 * s8 -> s16, INT8 -> INT16, int8_t -> mg_s16, uint32_t squares -> uint64_t squares
 */
#include "mcugen/norm_groups_s8.h"

static mg_norm_row of_group(const mg_norm_groups_s8_params *p, const int8_t *x)
{
    const uint32_t pitch = p->groups * p->channels;
    int32_t sum = 0;
    uint32_t squares = 0u;
    for (uint32_t at = 0u; at < p->positions * pitch; at += pitch) {
        for (uint32_t i = at; i < at + p->channels; i += 1u) {
            const int32_t q = x[i];
            sum += q;
            squares += (uint32_t)(q * q);
        }
    }
    return mg_norm_of(&p->norm, sum, squares);
}

void mg_norm_groups_s8(const mg_norm_groups_s8_params *p, const int8_t *x, int8_t *y)
{
    const uint32_t pitch = p->groups * p->channels, row_size = p->positions * pitch, span = p->length * p->stride;
    for (uint32_t g = 0u; g < p->rows * p->groups; g += 1u) {
        const uint32_t start = g / p->groups * row_size + g % p->groups * p->channels;
        const mg_norm_row row = of_group(p, x + start);
        for (uint32_t k = 0u; k < p->lines; k += 1u) {
            const uint32_t entry = (g * p->lines + k) % p->count, base = start + k * p->first;
            const int32_t slope = mg_norm_slope(row, p->gain[entry]), offset = p->offset[entry];
            for (uint32_t i = base; i < base + span; i += p->stride) {
                const int32_t v = mg_norm_element(row, x[i], slope, offset, p->norm.down);
                y[i] = (int8_t)mg_clamp(v, INT8_MIN, INT8_MAX);
            }
        }
    }
}
