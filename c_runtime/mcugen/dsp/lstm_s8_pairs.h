/* SPDX-License-Identifier: Apache-2.0
 *
 * The products of dsp_lstm_s8.h. MG_BYTES: 1 for functions that read the vectors as bytes, without scratch.
 */
#define MG_PARAMS mg_dsp_lstm_s8_params
#define MG_DATA int8_t
#define MG_LEAST INT8_MIN
#define MG_MOST INT8_MAX
#define MG_SUM int32_t
#define MG_WEIGHT int32_t
#if MG_BYTES
#define MG_VECTOR int8_t
#else
#define MG_VECTOR mg_s16
#endif
#include "mcugen/dsp_lstm_s8.h"
#include "mcugen/dsp_pairs.h"
#include "mcugen/dsp_widen.h"
#include "mcugen/lstm_s8_template.h"

/* Words of weights for n taps of four gates: one per gate and group of four taps. The last group may be shorter. */
static inline uint32_t weights(uint32_t n)
{
    return (n + 3u) & ~3u;
}

#if MG_BYTES
static inline uint32_t stored(uint32_t n)
{
    (void)n;
    return 0u;
}

static inline const int8_t *widened(const int8_t *x, int8_t *wide, uint32_t n)
{
    (void)wide;
    (void)n;
    return x;
}
#else
static inline uint32_t stored(uint32_t n)
{
    return weights(n);
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
#endif

/* mg_requantize for |x| < 2^30, also after a shift to the left. */
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

#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)

/* Loads four elements. r0: elements 0 and 2, r12: elements 1 and 3 */
#if MG_BYTES
#define MG_DSP_FOUR                            \
    "ldr r0, [r2], #4\n"                       \
    "sxtb16 r12, r0, ror #8\n"                 \
    "sxtb16 r0, r0\n"
#else
#define MG_DSP_FOUR "ldrd r0, r12, [r2], #8\n"
#endif

/* Adds the products of the four weights in w with the elements in r0 and r12. */
#define MG_DSP_GATE(w, sum)                    \
    "sxtb16 lr, " w ", ror #8\n"               \
    "sxtb16 " w ", " w "\n"                    \
    "smlad " sum ", lr, r12, " sum "\n"        \
    "smlad " sum ", " w ", r0, " sum "\n"

/* Adds the products of the four gates' weights with the elements from x to `end`, at least four.
 * r1: weights, r2: x, r3: end, r4-r7: sums, r8-r11: words of weights */
__attribute__((naked, noinline)) static void gates(int32_t sums[4] MCUGEN_UNUSED, const int32_t *w MCUGEN_UNUSED,
                                                   const MG_VECTOR *x MCUGEN_UNUSED, const MG_VECTOR *end MCUGEN_UNUSED)
{
    __asm__("push {r0, r4-r11, lr}\n"
            "ldmia r0, {r4-r7}\n"
            "1:\n"
            MG_DSP_FOUR
            "ldmia r1!, {r8-r11}\n"
            MG_DSP_GATE("r8", "r4") MG_DSP_GATE("r9", "r5") MG_DSP_GATE("r10", "r6") MG_DSP_GATE("r11", "r7")
            "cmp r2, r3\n"
            "bne 1b\n"
            "pop {r0}\n"
            "stmia r0, {r4-r7}\n"
            "pop {r4-r11, pc}\n");
}

#undef MG_DSP_FOUR
#undef MG_DSP_GATE

#else

static void gates(int32_t sums[4], const int32_t *w, const MG_VECTOR *x, const MG_VECTOR *end)
{
    const uint32_t groups = (uint32_t)(end - x) / 4u;
    for (uint32_t j = 0u; j < groups; j += 1u) {
#if MG_BYTES
        const uint32_t four = mg_dsp_word(x + 4u * j), even = mg_dsp_even(four), odd = mg_dsp_odd(four);
#else
        const uint32_t even = mg_dsp_both(x + 4u * j), odd = mg_dsp_both(x + 4u * j + 2u);
#endif
        for (uint32_t g = 0u; g < 4u; g += 1u) {
            const uint32_t word = (uint32_t)w[4u * j + g];
            sums[g] = mg_dsp_add_products(mg_dsp_even(word), even, sums[g]);
            sums[g] = mg_dsp_add_products(mg_dsp_odd(word), odd, sums[g]);
        }
    }
}

#endif

#if MG_BYTES
static inline void products(int32_t sums[4], const int32_t *w, const int8_t *x, uint32_t n)
{
    const uint32_t whole = n & ~3u;
    if (whole != 0u) {
        gates(sums, w, x, x + whole);
    }
    if (whole < n) {
        int8_t last[4] = {x[whole], 0, 0, 0};
        for (uint32_t j = 1u; j < n - whole; j += 1u) {
            last[j] = x[whole + j];
        }
        gates(sums, w + whole, last, last + 4);
    }
}
#else
static inline void products(int32_t sums[4], const int32_t *w, const mg_s16 *x, uint32_t n)
{
    gates(sums, w, x, x + stored(n));
}
#endif
