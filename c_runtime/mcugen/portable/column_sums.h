/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of each channel over contiguous pixels, for global pooling and means.
 */
#ifndef MCUGEN_COLUMN_SUMS_H
#define MCUGEN_COLUMN_SUMS_H

#include "mcugen/lanes.h"

#if MG_LANES
/* Adds n pixels, at most MG_LANES_MOST, to the sums of four channels. */
static inline void mg_add_lanes_s8(mg_s32 *sums, const int8_t *x, uint32_t n, uint32_t channels)
{
    uint32_t even = 0u, odd = 0u;
    for (uint32_t i = 0u; i < n / 4u; i += 1u) {
        const uint32_t a = mg_load_four(x), b = mg_load_four(x + channels);
        const uint32_t c = mg_load_four(x + 2u * channels), d = mg_load_four(x + 3u * channels);
        even = mg_add_even(mg_add_even(mg_add_even(mg_add_even(even, a), b), c), d);
        odd = mg_add_odd(mg_add_odd(mg_add_odd(mg_add_odd(odd, a), b), c), d);
        x += 4u * channels;
    }
    for (uint32_t i = 0u; i < n % 4u; i += 1u) {
        const uint32_t a = mg_load_four(x);
        even = mg_add_even(even, a);
        odd = mg_add_odd(odd, a);
        x += channels;
    }
    sums[0] += mg_lane_low(even);
    sums[1] += mg_lane_low(odd);
    sums[2] += mg_lane_high(even);
    sums[3] += mg_lane_high(odd);
}

static inline void mg_add_four_columns_s8(mg_s32 *sums, const int8_t *x, uint32_t n, uint32_t channels)
{
    for (uint32_t i = 0u; i < n; i += MG_LANES_MOST) {
        mg_add_lanes_s8(sums, x + i * channels, n - i < MG_LANES_MOST ? n - i : MG_LANES_MOST, channels);
    }
}
#else
static inline void mg_add_four_columns_s8(mg_s32 *sums, const int8_t *x, uint32_t n, uint32_t channels)
{
    int32_t s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
    for (uint32_t i = 0u; i < n; i += 1u) {
        s0 += x[0];
        s1 += x[1];
        s2 += x[2];
        s3 += x[3];
        x += channels;
    }
    sums[0] = s0;
    sums[1] = s1;
    sums[2] = s2;
    sums[3] = s3;
}
#endif

/* sums[c] += sum over i < n of in[i * channels + c] */
static inline void mg_add_columns_s8(mg_s32 *sums, const int8_t *in, uint32_t n, uint32_t channels)
{
    const uint32_t fours = channels & ~3u;
    for (uint32_t c = 0u; c < fours; c += 4u) {
        mg_add_four_columns_s8(sums + c, in + c, n, channels);
    }
    for (uint32_t c = fours; c < channels; c += 1u) {
        int32_t sum = sums[c];
        for (uint32_t i = 0u; i < n; i += 1u) {
            sum += in[i * channels + c];
        }
        sums[c] = sum;
    }
}

static inline void mg_add_columns_s16(mg_s32 *sums, const mg_s16 *in, uint32_t n, uint32_t channels)
{
    for (uint32_t c = 0u; c < channels; c += 1u) {
        int32_t sum = sums[c];
        for (uint32_t i = 0u; i < n; i += 1u) {
            sum += in[i * channels + c];
        }
        sums[c] = sum;
    }
}

static inline void mg_add_columns_f32(mg_f32 *sums, const mg_f32 *in, uint32_t n, uint32_t channels)
{
    for (uint32_t c = 0u; c < channels; c += 1u) {
        float sum = sums[c];
        for (uint32_t i = 0u; i < n; i += 1u) {
            sum += in[i * channels + c];
        }
        sums[c] = sum;
    }
}

#endif /* MCUGEN_COLUMN_SUMS_H */
