/* SPDX-License-Identifier: Apache-2.0
 *
 * Four int8 values per word on cores with DSP instructions; MG_LANES is 1 if the core has them. Sums are kept in
 * two words of two 16-bit lanes, one for bytes 0 and 2, one for bytes 1 and 3; a lane sums at most MG_LANES_MOST
 * values.
 */
#ifndef MCUGEN_LANES_H
#define MCUGEN_LANES_H

#include "mcugen/runtime.h"

#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)
#define MG_LANES 1
#define MG_LANES_MOST 255u

/* Loads four bytes from any address. */
static inline uint32_t mg_load_four(const int8_t *from)
{
    uint32_t word;
    (void)memcpy(&word, from, sizeof word);
    return word;
}

static inline void mg_store_four(int8_t *to, uint32_t word)
{
    (void)memcpy(to, &word, sizeof word);
}

static inline uint32_t mg_add_even(uint32_t sums, uint32_t word)
{
    uint32_t y;
    __asm__("sxtab16 %0, %1, %2" : "=r"(y) : "r"(sums), "r"(word));
    return y;
}

static inline uint32_t mg_add_odd(uint32_t sums, uint32_t word)
{
    uint32_t y;
    __asm__("sxtab16 %0, %1, %2, ror #8" : "=r"(y) : "r"(sums), "r"(word));
    return y;
}

/* The larger of a and b, for each of the four bytes. */
static inline uint32_t mg_larger_four(uint32_t a, uint32_t b)
{
    uint32_t y;
    __asm__("ssub8 %0, %1, %2\n\tsel %0, %1, %2" : "=&r"(y) : "r"(a), "r"(b) : "cc");
    return y;
}

static inline int32_t mg_lane_low(uint32_t sums)
{
    return (int16_t)(uint16_t)(sums & 0xFFFFu);
}

static inline int32_t mg_lane_high(uint32_t sums)
{
    return (int16_t)(uint16_t)(sums >> 16);
}
#else
#define MG_LANES 0
#endif

#endif /* MCUGEN_LANES_H */
