/* SPDX-License-Identifier: Apache-2.0
 *
 * Normalization of int8 with the DSP instructions; the integers are those of norm.h.
 */
#ifndef MCUGEN_DSP_NORM_H
#define MCUGEN_DSP_NORM_H

#include "mcugen/dsp_pairs.h"
#include "mcugen/norm.h"

/* Sum and sum of squares of bytes. */
typedef struct {
    int32_t sum;
    uint32_t squares;
} mg_dsp_norm_sums;

/* The sums with those of n bytes added. */
static MCUGEN_INLINE mg_dsp_norm_sums mg_dsp_norm_add(mg_dsp_norm_sums before, const int8_t *x, uint32_t n)
{
    const uint32_t whole = n & ~3u;
    mg_dsp_norm_sums total = before;
    int32_t squares = (int32_t)before.squares;
    for (uint32_t i = 0u; i < whole; i += 4u) {
        const uint32_t word = mg_dsp_word(x + i), even = mg_dsp_even(word), odd = mg_dsp_odd(word);
        squares = mg_dsp_add_products(even, even, squares);
        squares = mg_dsp_add_products(odd, odd, squares);
        total.sum = mg_dsp_add_products(even, 0x00010001u, total.sum);
        total.sum = mg_dsp_add_products(odd, 0x00010001u, total.sum);
    }
    for (uint32_t i = whole; i < n; i += 1u) {
        squares += x[i] * x[i];
        total.sum += x[i];
    }
    total.squares = (uint32_t)squares;
    return total;
}

#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)

/* M for a gain. */
static MCUGEN_INLINE int32_t mg_dsp_norm_slope(uint32_t root, int32_t gain)
{
    int32_t half;
    __asm__("smmulr %0, %1, %2" : "=r"(half) : "r"(root), "r"(gain));
    return half * 2;
}

/* y of the element q, clamped. */
static MCUGEN_INLINE int8_t mg_dsp_norm_one(mg_norm_row row, int32_t q, int32_t slope, int32_t offset, uint32_t down)
{
    const uint32_t back = 0u - row.origin;
    int32_t y = q;
    __asm__("mla %0, %1, %0, %2\n"
            "smmla %0, %0, %3, %4\n"
            "asr %0, %0, %5\n"
            "ssat %0, #8, %0\n"
            : "+r"(y)
            : "r"(row.step), "r"(back), "r"(slope), "r"(offset), "r"(down)
            : "cc");
    return (int8_t)y;
}

#define MG_DSP_NORM_Y(y, q, slope, offset) \
    q "mla " y ", %[step], " y ", %[back]\nsmmla " y ", " y ", " slope ", " offset "\nasr " y ", " y ", %[down]\n" \
      "ssat " y ", #8, " y "\n"
#define MG_DSP_NORM_LINE(at) \
    "ldrd %[g], %[b], [%[lines], #" at "]\nsmmulr %[g], %[root], %[g]\nlsl %[g], %[g], #1\n"
#define MG_DSP_NORM_PUT(at) "bfi %[y], %[q], #" at ", #8\n"
#define MG_DSP_NORM_FOUR(first, second, third, fourth, slope, offset)                          \
    MG_DSP_NORM_Y("%[y]", first "sxtb %[y], %[word]\n", slope, offset)                         \
    MG_DSP_NORM_Y("%[q]", second "sxtb %[q], %[word], ror #8\n", slope, offset)                \
    MG_DSP_NORM_PUT("8") MG_DSP_NORM_Y("%[q]", third "sxtb %[q], %[word], ror #16\n", slope, offset) \
    MG_DSP_NORM_PUT("16") MG_DSP_NORM_Y("%[q]", fourth "sxtb %[q], %[word], ror #24\n", slope, offset) \
    MG_DSP_NORM_PUT("24")

/* Four elements with one slope and offset. back: -origin of the row */
static MCUGEN_INLINE uint32_t mg_dsp_norm_even(mg_norm_row row, uint32_t back, uint32_t word, int32_t slope,
                                               int32_t offset, uint32_t down)
{
    uint32_t made, q;
    __asm__(MG_DSP_NORM_FOUR("", "", "", "", "%[slope]", "%[offset]")
            : [y] "=&r"(made), [q] "=&r"(q)
            : [word] "r"(word), [step] "r"(row.step), [back] "r"(back), [slope] "r"(slope), [offset] "r"(offset),
              [down] "r"(down)
            : "cc");
    return made;
}

/* Four elements, each with a gain and an offset from `lines`. back: -origin of the row */
static MCUGEN_INLINE uint32_t mg_dsp_norm_uneven(mg_norm_row row, uint32_t back, uint32_t word, const int32_t *lines,
                                                 uint32_t down)
{
    uint32_t made, q, g, b;
    __asm__(MG_DSP_NORM_FOUR(MG_DSP_NORM_LINE("0"), MG_DSP_NORM_LINE("8"), MG_DSP_NORM_LINE("16"),
                             MG_DSP_NORM_LINE("24"), "%[g]", "%[b]")
            : [y] "=&r"(made), [q] "=&r"(q), [g] "=&r"(g), [b] "=&r"(b)
            : [word] "r"(word), [step] "r"(row.step), [back] "r"(back), [root] "r"(row.root), [lines] "r"(lines),
              [down] "r"(down), "m"(*(const int32_t(*)[8])lines)
            : "cc");
    return made;
}

#else

static inline int32_t mg_dsp_norm_slope(uint32_t root, int32_t gain)
{
    const mg_norm_row row = {0u, 0u, root};
    return mg_norm_slope(row, gain);
}

static inline int8_t mg_dsp_norm_one(mg_norm_row row, int32_t q, int32_t slope, int32_t offset, uint32_t down)
{
    return (int8_t)mg_clamp(mg_norm_element(row, q, slope, offset, down), INT8_MIN, INT8_MAX);
}

static inline uint32_t mg_dsp_norm_even(mg_norm_row row, uint32_t back, uint32_t word, int32_t slope, int32_t offset,
                                        uint32_t down)
{
    uint32_t made = 0u;
    (void)back;
    for (uint32_t k = 0u; k < 32u; k += 8u) {
        const int8_t y = mg_dsp_norm_one(row, (int8_t)(uint8_t)(word >> k), slope, offset, down);
        made |= (uint32_t)(uint8_t)y << k;
    }
    return made;
}

static inline uint32_t mg_dsp_norm_uneven(mg_norm_row row, uint32_t back, uint32_t word, const int32_t *lines,
                                          uint32_t down)
{
    uint32_t made = 0u;
    (void)back;
    for (uint32_t k = 0u; k < 4u; k += 1u) {
        const int32_t slope = mg_dsp_norm_slope(row.root, lines[2u * k]);
        const int8_t y = mg_dsp_norm_one(row, (int8_t)(uint8_t)(word >> 8u * k), slope, lines[2u * k + 1u], down);
        made |= (uint32_t)(uint8_t)y << 8u * k;
    }
    return made;
}

#endif

#endif /* MCUGEN_DSP_NORM_H */
