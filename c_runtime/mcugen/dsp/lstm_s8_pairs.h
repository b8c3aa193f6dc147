/* SPDX-License-Identifier: Apache-2.0
 *
 * The products of dsp_lstm_s8.h.
 */
#define MG_PARAMS mg_dsp_lstm_s8_params
#define MG_DATA int8_t
#define MG_LEAST INT8_MIN
#define MG_MOST INT8_MAX
#define MG_SUM int32_t
#define MG_VECTOR mg_s16
#include "mcugen/dsp_lstm_s8.h"
#include "mcugen/dsp_pairs.h"
#include "mcugen/dsp_widen.h"
#include "mcugen/lstm_s8_template.h"

static inline uint32_t stored(uint32_t n)
{
    return (n + 3u) & ~3u;
}

static inline const mg_s16 *widened(const int8_t *x, mg_s16 *wide, uint32_t n)
{
    static const uint8_t places[3] = {0u, 2u, 1u};
    const uint32_t groups = n / 4u, rest = n & 3u;
    mg_dsp_widen_swapped(x, wide, groups);
    if (rest != 0u) {
        mg_s16 *const last = wide + 4u * groups;
        mg_dsp_fill(last, 0, 4u);
        for (uint32_t j = 0u; j < rest; j += 1u) {
            last[places[j]] = x[4u * groups + j];
        }
    }
    return wide;
}

/* x stays below 2^30, also shifted to the left. */
static inline int32_t scaled(int32_t x, int32_t mult, int32_t shift)
{
    const uint32_t right = (uint32_t)-shift;
    if (shift >= 0) {
        return mg_dsp_high_sum(x * ((int32_t)2 << (uint32_t)shift), mult, 0);
    }
    return mg_dsp_high_sum(2 * x, mult, ((int32_t)1 << (right - 1u)) + mg_sign(x)) >> right;
}

static inline int32_t scaled_sum(int32_t x, int32_t mult, int32_t shift)
{
    return scaled(x, mult, shift);
}

static inline int32_t narrowed(int32_t x)
{
    return mg_dsp_narrowed(x);
}

static inline void products(int32_t sums[4], const int8_t *w, const mg_s16 *x, uint32_t n)
{
    int32_t a = sums[0], b = sums[1], c = sums[2], d = sums[3];
    const uint32_t groups = stored(n) / 4u;
    for (uint32_t j = 0u; j < groups; j += 1u) {
        const uint32_t even = mg_dsp_both(x), odd = mg_dsp_both(x + 2);
        const uint32_t i = mg_dsp_word(w), f = mg_dsp_word(w + 4), g = mg_dsp_word(w + 8), o = mg_dsp_word(w + 12);
        a = mg_dsp_add_products(mg_dsp_odd(i), odd, mg_dsp_add_products(mg_dsp_even(i), even, a));
        b = mg_dsp_add_products(mg_dsp_odd(f), odd, mg_dsp_add_products(mg_dsp_even(f), even, b));
        c = mg_dsp_add_products(mg_dsp_odd(g), odd, mg_dsp_add_products(mg_dsp_even(g), even, c));
        d = mg_dsp_add_products(mg_dsp_odd(o), odd, mg_dsp_add_products(mg_dsp_even(o), even, d));
        x += 4;
        w += 16;
    }
    sums[0] = a;
    sums[1] = b;
    sums[2] = c;
    sums[3] = d;
}
