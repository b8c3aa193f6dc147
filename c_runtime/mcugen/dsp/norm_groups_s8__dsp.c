/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/norm_groups_s8.h"

#include "mcugen/dsp_norm.h"

static mg_norm_row of_group(const mg_norm_groups_s8_params *p, const int8_t *x)
{
    const uint32_t pitch = p->groups * p->channels, size = p->positions * pitch, channels = p->channels;
    const uint32_t first = channels & ~3u, pairs = (p->positions & ~1u) * pitch;
    mg_dsp_norm_sums sums = {0, 0u};
    if (first > 0u) {
        for (uint32_t at = 0u; at < size; at += pitch) {
            sums = mg_dsp_norm_add(sums, x + at, first);
        }
    }
    for (uint32_t c = first; c < channels; c += 1u) {
        for (uint32_t at = c; at < c + pairs; at += 2u * pitch) {
            const int32_t a = x[at], b = x[at + pitch];
            sums.sum += a + b;
            sums.squares += (uint32_t)(a * a) + (uint32_t)(b * b);
        }
        for (uint32_t at = c + pairs; at < c + size; at += pitch) {
            const int32_t a = x[at];
            sums.sum += a;
            sums.squares += (uint32_t)(a * a);
        }
    }
    return mg_norm_of(&p->norm, sums.sum, sums.squares);
}

void mg_norm_groups_s8__dsp(const mg_norm_groups_s8_params *p, const int8_t *x, int8_t *y)
{
    const uint32_t pitch = p->groups * p->channels, row_size = p->positions * pitch, span = p->length * p->stride;
    const uint32_t step = p->stride, pairs = (p->length & ~1u) * step, down = p->norm.down;
    for (uint32_t g = 0u; g < p->rows * p->groups; g += 1u) {
        const uint32_t start = g / p->groups * row_size + g % p->groups * p->channels;
        const mg_norm_row row = of_group(p, x + start);
        for (uint32_t k = 0u; k < p->lines; k += 1u) {
            const uint32_t entry = (g * p->lines + k) % p->count, base = start + k * p->first;
            const int32_t slope = mg_dsp_norm_slope(row.root, p->gain[entry]), offset = p->offset[entry];
            for (uint32_t i = base; i < base + pairs; i += 2u * step) {
                const int32_t a = x[i], b = x[i + step];
                y[i] = mg_dsp_norm_one(row, a, slope, offset, down);
                y[i + step] = mg_dsp_norm_one(row, b, slope, offset, down);
            }
            for (uint32_t i = base + pairs; i < base + span; i += step) {
                y[i] = mg_dsp_norm_one(row, x[i], slope, offset, down);
            }
        }
    }
}
