/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of energies of 32 bits times weights of 16 bits. The weights of a sum add up to at most 65,536, so a sum is
 * below 2^48. Cores without 64-bit products compute two sums: of the low and of the high halves of the energies.
 */
#ifndef MCUGEN_BAND_SUM_H
#define MCUGEN_BAND_SUM_H

#include "mcugen/bits.h"

typedef struct {
#if MG_LONG_PRODUCTS
    uint64_t whole;
#else
    uint32_t low, high;
#endif
} mg_band_sum;

static MCUGEN_INLINE mg_band_sum mg_band_sum_zero(void)
{
#if MG_LONG_PRODUCTS
    const mg_band_sum zero = {0u};
#else
    const mg_band_sum zero = {0u, 0u};
#endif
    return zero;
}

static MCUGEN_INLINE void mg_band_sum_add(mg_band_sum *sum, uint32_t energy, uint32_t weight)
{
#if MG_LONG_PRODUCTS
    sum->whole += (uint64_t)energy * weight;
#else
    sum->low += (energy & 0xFFFFu) * weight;
    sum->high += (energy >> 16) * weight;
#endif
}

static MCUGEN_INLINE uint64_t mg_band_sum_value(mg_band_sum sum)
{
#if MG_LONG_PRODUCTS
    return sum.whole;
#else
    const uint32_t low = sum.low + (sum.high << 16);
    const uint32_t high = (sum.high >> 16) + (uint32_t)(low < sum.low);
    return ((uint64_t)high << 32) | low;
#endif
}

/* Each bin of a channel has a pair of weights. Adds the sum of bins times first weights to *sum; returns the sum of
 * bins times second weights, with which the next result begins. */
static MCUGEN_INLINE mg_band_sum mg_band_sum_of(const mg_u32 *bins, uint32_t width, const uint16_t *weights, mg_band_sum *sum)
{
    mg_band_sum next = mg_band_sum_zero();
    const mg_u32 *const end = bins + width;
    const uint16_t *const last = weights + 2u * width;
    for (int32_t i = -(int32_t)width; i < 0; i += 1) { /* an index that ends at 0 takes no comparison */
        const uint32_t energy = end[i];
        mg_band_sum_add(sum, energy, last[2 * i]);
        mg_band_sum_add(&next, energy, last[2 * i + 1]);
    }
    return next;
}

#endif /* MCUGEN_BAND_SUM_H */
