/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/filter_bank.h"

/* Sum over a channel's bins of bin * weight, which wraps at 64 bits. table: p's weights or unweights. */
static uint64_t band(const mg_filter_bank_params *p, const int16_t *table, const mg_u32 *x, uint32_t channel)
{
    const int16_t *const weights = table + p->start[channel];
    const mg_u32 *const bins = x + p->first[channel];
    uint64_t sum = 0u;
    for (int32_t j = 0; j < p->width[channel]; j += 1) {
        sum += (uint64_t)weights[j] * bins[j];
    }
    return sum;
}

void mg_filter_bank(const mg_filter_bank_params *p, const mg_u32 *x, mg_u64 *y)
{
    for (uint32_t i = 0u; i < p->channels; i += 1u) {
        y[i] = band(p, p->weights, x, i + 1u) + band(p, p->unweights, x, i);
    }
}
