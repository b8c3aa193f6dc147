/* SPDX-License-Identifier: Apache-2.0
 *
 * SMLAD and SMMLAR from C: products of four int8 taps with int16 vectors in the order 0, 2, 1, 3; scaling, saturation.
 */
#ifndef MCUGEN_DSP_PAIRS_H
#define MCUGEN_DSP_PAIRS_H

#include "mcugen/runtime.h"

/* Four bytes as a word; x needs no alignment. */
static inline uint32_t mg_dsp_word(const int8_t *x)
{
    uint32_t word;
    (void)memcpy(&word, x, sizeof(word));
    return word;
}

/* Two int16 as a word. */
static inline uint32_t mg_dsp_both(const mg_s16 *x)
{
    uint32_t word;
    (void)memcpy(&word, x, sizeof(word));
    return word;
}

#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)

/* Bytes 0 and 2 of a word as a pair of int16. */
static inline uint32_t mg_dsp_even(uint32_t word)
{
    uint32_t pair;
    __asm__("sxtb16 %0, %1" : "=r"(pair) : "r"(word));
    return pair;
}

/* Bytes 1 and 3 of a word as a pair of int16. */
static inline uint32_t mg_dsp_odd(uint32_t word)
{
    uint32_t pair;
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(pair) : "r"(word));
    return pair;
}

/* sum + a0 * b0 + a1 * b1, of pairs of int16 */
static inline int32_t mg_dsp_add_products(uint32_t a, uint32_t b, int32_t sum)
{
    int32_t total;
    __asm__("smlad %0, %1, %2, %3" : "=r"(total) : "r"(a), "r"(b), "r"(sum));
    return total;
}

/* round(x * mult / 2^32) + sum */
static inline int32_t mg_dsp_high_sum(int32_t x, int32_t mult, int32_t sum)
{
    int32_t total;
    __asm__("smmlar %0, %1, %2, %3" : "=r"(total) : "r"(x), "r"(mult), "r"(sum));
    return total;
}

/* x saturated to int16 */
static inline int32_t mg_dsp_narrowed(int32_t x)
{
    int32_t y;
    __asm__("ssat %0, #16, %1" : "=r"(y) : "r"(x) : "cc");
    return y;
}

#else

static inline int32_t mg_dsp_high_sum(int32_t x, int32_t mult, int32_t sum)
{
    return (int32_t)(((int64_t)x * mult + ((int64_t)1 << 31)) >> 32) + sum;
}

static inline int32_t mg_dsp_narrowed(int32_t x)
{
    return mg_clamp(x, INT16_MIN, INT16_MAX);
}

static inline uint32_t mg_dsp_pair(int32_t low, int32_t high)
{
    return (uint32_t)(uint16_t)low | (uint32_t)(uint16_t)high << 16;
}

static inline uint32_t mg_dsp_even(uint32_t word)
{
    return mg_dsp_pair((int8_t)(word & 0xFFu), (int8_t)(word >> 16 & 0xFFu));
}

static inline uint32_t mg_dsp_odd(uint32_t word)
{
    return mg_dsp_pair((int8_t)(word >> 8 & 0xFFu), (int8_t)(word >> 24));
}

static inline int32_t mg_dsp_add_products(uint32_t a, uint32_t b, int32_t sum)
{
    const int32_t low = (int16_t)(a & 0xFFFFu) * (int16_t)(b & 0xFFFFu);
    const int32_t high = (int16_t)(a >> 16) * (int16_t)(b >> 16);
    return (int32_t)((uint32_t)sum + (uint32_t)low + (uint32_t)high);
}

#endif

#endif /* MCUGEN_DSP_PAIRS_H */
