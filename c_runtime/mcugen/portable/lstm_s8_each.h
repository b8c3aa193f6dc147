/* SPDX-License-Identifier: Apache-2.0
 *
 * The products of lstm_s8.h, on vectors that are read in place. The weights of a unit are [tap][gate].
 */
#define MG_PARAMS mg_lstm_s8_params
#define MG_DATA int8_t
#define MG_LEAST INT8_MIN
#define MG_MOST INT8_MAX
#define MG_SUM int32_t
#define MG_WEIGHT int8_t
#define MG_VECTOR int8_t
#include "mcugen/lstm_s8.h"

#include "mcugen/lstm_s8_template.h"

static inline uint32_t stored(uint32_t n)
{
    return n;
}

static inline uint32_t weights(uint32_t n)
{
    return 4u * n;
}

static inline const int8_t *widened(const int8_t *x, int8_t *wide, uint32_t n)
{
    (void)wide;
    (void)n;
    return x;
}

static inline int32_t scaled(int32_t x, int32_t mult, int32_t shift)
{
    return mg_requantize(x, mult, shift);
}

static inline int32_t scaled_sum(int32_t x, int32_t mult, int32_t shift)
{
    return scaled(x, mult, shift);
}

static inline int32_t narrowed(int32_t x)
{
    return mg_clamp(x, INT16_MIN, INT16_MAX);
}

/* Sums wrap to 32 bits. */
static inline void products(int32_t sums[4], const int8_t *w, const int8_t *x, uint32_t n)
{
    uint32_t a = (uint32_t)sums[0], b = (uint32_t)sums[1], c = (uint32_t)sums[2], d = (uint32_t)sums[3];
    for (uint32_t j = 0u; j < n; j += 1u) {
        const int32_t tap = x[j];
        a += (uint32_t)(w[4u * j] * tap);
        b += (uint32_t)(w[4u * j + 1u] * tap);
        c += (uint32_t)(w[4u * j + 2u] * tap);
        d += (uint32_t)(w[4u * j + 3u] * tap);
    }
    sums[0] = (int32_t)a;
    sums[1] = (int32_t)b;
    sums[2] = (int32_t)c;
    sums[3] = (int32_t)d;
}
