/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of two stored integers as real numbers, rounded once: y = (k[0] * a + k[1] * b + k[2]) >> shift, which the build
 * has proved for all 65,536 pairs. For more integers, k has a factor for each and then the addend.
 *
 * The addend holds the rounding and all zero points. If the bits shifted out are less than 2^tie_bits, the sum lies
 * halfway between two y; the y an even number of steps from zero_point is taken.
 */
#ifndef MCUGEN_PAIR_H
#define MCUGEN_PAIR_H

#include "mcugen/round_even.h"

typedef struct {
    const int64_t *k;
    int32_t zero_point, out_min, out_max;
    uint8_t shift, tie_bits;
} mg_pair;

static inline int32_t mg_pair_total(const mg_pair *pair, int64_t total)
{
    const uint64_t lost = (uint64_t)total & (((uint64_t)1 << pair->shift) - 1u);
    int32_t y = (int32_t)(total >> pair->shift);
    y -= lost >> pair->tie_bits == 0u ? (y - pair->zero_point) & 1 : 0;
    return mg_clamp(y, pair->out_min, pair->out_max);
}

/* mg_pair_total for y beyond 32 bits. */
static inline int32_t mg_pair_total_wide(const mg_pair *pair, int64_t total)
{
    const uint64_t lost = (uint64_t)total & (((uint64_t)1 << pair->shift) - 1u);
    int64_t y = total >> pair->shift;
    y -= lost >> pair->tie_bits == 0u ? (y - pair->zero_point) & 1 : 0;
    return y < pair->out_min ? pair->out_min : y > pair->out_max ? pair->out_max : (int32_t)y;
}

static inline int32_t mg_pair_of(const mg_pair *pair, int32_t a, int32_t b)
{
    return mg_pair_total(pair, pair->k[0] * a + pair->k[1] * b + pair->k[2]);
}

static inline int32_t mg_pair_of_wide(const mg_pair *pair, int32_t a, int32_t b)
{
    return mg_pair_total_wide(pair, pair->k[0] * a + pair->k[1] * b + pair->k[2]);
}

/* A sum as QLinearAdd computes it: two fused multiply-adds, each rounded once to float32. In float64 a product of a
 * byte and a float32 is exact, and so is the sum before rounding. */
typedef struct {
    float a, b, fixed;
    int32_t out_min, out_max;
    int16_t flip; /* 128 if stored bytes were uint8, else 0 */
} mg_fused_pair;

static inline int32_t mg_fused_pair_of(const mg_fused_pair *pair, int32_t a, int32_t b)
{
    const float second = (float)((double)(b + pair->flip) * (double)pair->b + (double)pair->fixed);
    const float sum = (float)((double)(a + pair->flip) * (double)pair->a + (double)second);
    return mg_clamp(mg_round_even(sum) - pair->flip, pair->out_min, pair->out_max);
}

#endif /* MCUGEN_PAIR_H */
