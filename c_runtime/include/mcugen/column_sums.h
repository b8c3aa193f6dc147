/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of each channel over a run of pixels, as global pooling and means need them.
 */
#ifndef MCUGEN_COLUMN_SUMS_H
#define MCUGEN_COLUMN_SUMS_H

#include "mcugen/runtime.h"

/* sums[c] += sum over i < n of in[i * channels + c] */
static inline void mg_add_columns_s8(mg_s32 *sums, const int8_t *in, uint32_t n, uint32_t channels)
{
    const uint32_t fours = channels & ~3u;
    for (uint32_t c = 0u; c < fours; c += 4u) {
        const int8_t *x = in + c;
        int32_t s0 = sums[c], s1 = sums[c + 1u], s2 = sums[c + 2u], s3 = sums[c + 3u];
        for (uint32_t i = 0u; i < n; i += 1u) {
            s0 += x[0];
            s1 += x[1];
            s2 += x[2];
            s3 += x[3];
            x += channels;
        }
        sums[c] = s0;
        sums[c + 1u] = s1;
        sums[c + 2u] = s2;
        sums[c + 3u] = s3;
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
