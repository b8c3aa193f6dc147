/* SPDX-License-Identifier: Apache-2.0
 *
 * A row of integer_softmax_s8.h.
 */
#ifndef MCUGEN_INTEGER_SOFTMAX_ROW_H
#define MCUGEN_INTEGER_SOFTMAX_ROW_H

#include "mcugen/bits.h"
#include "mcugen/integer_softmax_s8.h"
#include "mcugen/reciprocal.h"

#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)
#define MG_SOFTMAX_FOURS 1
#else
#define MG_SOFTMAX_FOURS 0
#endif

/* Zero bits above the highest one of x > 0. */
static inline uint32_t mg_softmax_zeros(uint32_t x)
{
#if MG_SOFTMAX_FOURS
    return (uint32_t)__builtin_clz(x);
#else
    return mg_leading_zeros(x);
#endif
}

/* floor(2^(30 + f) / sum), 2^f <= sum <= 2^31 */
static inline int32_t mg_softmax_reciprocal(uint32_t sum, uint32_t f)
{
    const uint32_t zeros = mg_softmax_zeros(sum);
    return mg_one_over_one_plus((int32_t)((sum << zeros) - 0x80000000u)) >> (32u - f - zeros);
}

/* floor(t * r / 2^32), t <= 2^23, 0 <= r <= 2^30; with MG_SOFTMAX_FOURS plus 2^12 */
static inline uint32_t mg_softmax_product(uint32_t t, int32_t r)
{
#if MG_SOFTMAX_FOURS
    uint32_t high;
    __asm__("smmla %0, %1, %2, %3" : "=r"(high) : "r"(t), "r"(r), "r"(4096));
    return high;
#elif defined(__ARM_ARCH_6M__)
    return mg_upper_by_halves(t, (uint32_t)r); /* faster than the library's product of 64 bits */
#else
    return (uint32_t)(((int64_t)(int32_t)t * r) >> 32);
#endif
}

/* The result of an element, plus 128. */
static inline uint32_t mg_softmax_share(uint32_t t, int32_t r)
{
    const uint32_t y = mg_softmax_product(t, r);
#if MG_SOFTMAX_FOURS
    uint32_t share;
    __asm__("usat %0, #8, %1, asr #13" : "=r"(share) : "r"(y) : "cc");
    return share;
#else
    const uint32_t share = ((y >> 12) + 1u) >> 1;
    return share - (share >> 8);
#endif
}

/* The larger of two numbers that are less than 2^31 apart. */
static inline int32_t mg_softmax_larger(int32_t x, int32_t y)
{
    const int32_t above = x - y;
    return y + (above & ~(above >> 31));
}

#if MG_SOFTMAX_FOURS
static inline uint32_t mg_softmax_word(const int8_t *x)
{
    uint32_t word;
    (void)memcpy(&word, x, sizeof(word));
    return word;
}

/* The larger of two int8, for each of four bytes. */
static inline uint32_t mg_softmax_larger_bytes(uint32_t x, uint32_t y)
{
    uint32_t most;
    __asm__("ssub8 %0, %1, %2\n\tsel %0, %1, %2" : "=&r"(most) : "r"(x), "r"(y));
    return most;
}

/* x - y for each of four bytes */
static inline uint32_t mg_softmax_below_bytes(uint32_t x, uint32_t y)
{
    uint32_t below;
    __asm__("usub8 %0, %1, %2" : "=r"(below) : "r"(x), "r"(y));
    return below;
}

/* The largest of n > 0 elements. */
static MCUGEN_UNUSED int32_t mg_softmax_largest(const int8_t *x, uint32_t n)
{
    const uint32_t eights = n < 8u ? 0u : n & ~7u, rest = n < 8u ? n : 0u;
    uint32_t four = n < 8u ? 0x80808080u : mg_softmax_larger_bytes(mg_softmax_word(x + n - 8u), mg_softmax_word(x + n - 4u));
    int32_t most;
    for (uint32_t k = 0u; k < eights; k += 8u) {
        four = mg_softmax_larger_bytes(mg_softmax_word(x + k), four);
        four = mg_softmax_larger_bytes(mg_softmax_word(x + k + 4u), four);
    }
    four = mg_softmax_larger_bytes(four, four >> 16 | four << 16);
    four = mg_softmax_larger_bytes(four, four >> 8 | four << 24);
    most = (int8_t)(four & 0xFFu);
    for (uint32_t k = 0u; k < rest; k += 1u) {
        most = mg_softmax_larger(x[k], most);
    }
    return most;
}

/* The sum of n exponentials, divided by 2^spare. */
static MCUGEN_UNUSED uint32_t mg_softmax_sum(const uint32_t *exp, const int8_t *x, int32_t most, uint32_t n, uint32_t spare)
{
    const uint32_t fours = n & ~3u, all = (uint32_t)(uint8_t)most * 0x01010101u;
    uint32_t sum = 0u;
    for (uint32_t k = 0u; k < fours; k += 4u) {
        const uint32_t at = mg_softmax_below_bytes(all, mg_softmax_word(x + k));
        sum += (exp[at & 0xFFu] + exp[(at >> 8) & 0xFFu] + exp[(at >> 16) & 0xFFu] + exp[at >> 24]) >> spare;
    }
    for (uint32_t k = fours; k < n; k += 1u) {
        sum += exp[most - x[k]] >> spare;
    }
    return sum;
}

static MCUGEN_UNUSED void mg_softmax_shares(const mg_integer_softmax_s8_params *p, const int8_t *x, int8_t *out, int32_t most,
                                            int32_t r, uint32_t n)
{
    const uint32_t fours = n & ~3u, all = (uint32_t)(uint8_t)most * 0x01010101u;
    const uint32_t *const exp = p->exp;
    for (uint32_t k = 0u; k < fours; k += 4u) {
        const uint32_t at = mg_softmax_below_bytes(all, mg_softmax_word(x + k));
        const uint32_t t0 = exp[at & 0xFFu], t1 = exp[(at >> 8) & 0xFFu], t2 = exp[(at >> 16) & 0xFFu], t3 = exp[at >> 24];
        const uint32_t first = mg_softmax_share(t0, r) | mg_softmax_share(t1, r) << 8;
        const uint32_t second = mg_softmax_share(t2, r) | mg_softmax_share(t3, r) << 8;
        const uint32_t word = (first | second << 16) ^ 0x80808080u;
        (void)memcpy(out + k, &word, sizeof(word));
    }
    for (uint32_t k = fours; k < n; k += 1u) {
        out[k] = (int8_t)((int32_t)mg_softmax_share(exp[most - x[k]], r) - 128);
    }
}
#else
static MCUGEN_UNUSED int32_t mg_softmax_largest(const int8_t *x, uint32_t n)
{
    const uint32_t twos = n & ~1u;
    int32_t most = x[n - 1u];
    for (uint32_t k = 0u; k < twos; k += 2u) {
        most = mg_softmax_larger(x[k], most);
        most = mg_softmax_larger(x[k + 1u], most);
    }
    return most;
}

static MCUGEN_UNUSED uint32_t mg_softmax_sum(const uint32_t *exp, const int8_t *x, int32_t most, uint32_t n, uint32_t spare)
{
    const uint32_t twos = n & ~1u;
    uint32_t sum = twos < n ? exp[most - x[twos]] >> spare : 0u;
    for (uint32_t k = 0u; k < twos; k += 2u) {
        sum += (exp[most - x[k]] + exp[most - x[k + 1u]]) >> spare;
    }
    return sum;
}

static MCUGEN_UNUSED void mg_softmax_shares(const mg_integer_softmax_s8_params *p, const int8_t *x, int8_t *out, int32_t most,
                                            int32_t r, uint32_t n)
{
    const uint32_t twos = n & ~1u;
    const uint32_t *const exp = p->exp;
    for (uint32_t k = 0u; k < twos; k += 2u) {
        out[k] = (int8_t)((int32_t)mg_softmax_share(exp[most - x[k]], r) - 128);
        out[k + 1u] = (int8_t)((int32_t)mg_softmax_share(exp[most - x[k + 1u]], r) - 128);
    }
    if (twos < n) {
        out[twos] = (int8_t)((int32_t)mg_softmax_share(exp[most - x[twos]], r) - 128);
    }
}
#endif

/* Computes a row whose first n elements are keys, n > 0. */
static MCUGEN_UNUSED void mg_softmax_keys(const mg_integer_softmax_s8_params *p, const int8_t *x, int8_t *out, uint32_t n)
{
    const int32_t most = mg_softmax_largest(x, n);
    const int32_t r = mg_softmax_reciprocal(mg_softmax_sum(p->exp, x, most, n, 23u - p->f), p->f);
    mg_softmax_shares(p, x, out, most, r, n);
}

#endif /* MCUGEN_INTEGER_SOFTMAX_ROW_H */
