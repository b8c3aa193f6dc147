/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/filter_bank_pairs.h"
#include "mcugen/band_sum.h"

void mg_filter_bank_pairs(const mg_filter_bank_pairs_params *p, const mg_u32 *x, mg_u64 *y)
{
    const uint16_t *weights = p->weights;
    const mg_u32 *bins = x + p->first;
    mg_band_sum sum = mg_band_sum_zero();
    for (uint32_t c = 0u; c <= p->channels; c += 1u) {
        const uint32_t width = p->widths[c];
        const mg_band_sum next = mg_band_sum_of(bins, width, weights, &sum);
        bins += width;
        weights += 2u * width;
        if (c > 0u) {
            y[c - 1u] = mg_band_sum_value(sum);
        }
        sum = next;
    }
}
