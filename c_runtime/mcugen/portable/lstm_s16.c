/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/lstm_s16.h"

#define MG_SYMBOL mg_lstm_s16
#define MG_SERIES 0
#define MG_PARAMS mg_lstm_s16_params
#define MG_DATA mg_s16
#define MG_LEAST INT16_MIN
#define MG_MOST INT16_MAX
#define MG_SUM int64_t
#define MG_WEIGHT int8_t
#define MG_VECTOR mg_s16
#include "mcugen/lstm_s8_template.h"

static inline uint32_t stored(uint32_t n)
{
    return n;
}

static inline uint32_t weights(uint32_t n)
{
    return 4u * n;
}

static inline const mg_s16 *widened(const mg_s16 *x, mg_s16 *wide, uint32_t n)
{
    (void)wide;
    (void)n;
    return x;
}

static inline int32_t scaled_sum(int64_t x, int32_t mult, int32_t shift)
{
    return mg_requantize_wide(x, mult, shift);
}

static inline int32_t scaled(int32_t x, int32_t mult, int32_t shift)
{
    return mg_requantize(x, mult, shift);
}

static inline int32_t narrowed(int32_t x)
{
    return mg_clamp(x, INT16_MIN, INT16_MAX);
}

static inline void products(int64_t sums[4], const int8_t *w, const mg_s16 *x, uint32_t n)
{
    int64_t a = sums[0], b = sums[1], c = sums[2], d = sums[3];
    for (uint32_t j = 0u; j < n; j += 1u) {
        const int32_t tap = x[j];
        a += w[4u * j] * tap;
        b += w[4u * j + 1u] * tap;
        c += w[4u * j + 2u] * tap;
        d += w[4u * j + 3u] * tap;
    }
    sums[0] = a;
    sums[1] = b;
    sums[2] = c;
    sums[3] = d;
}
