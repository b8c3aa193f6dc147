/* SPDX-License-Identifier: Apache-2.0
 *
 * Pairs of int16 on cores with DSP instructions: complex numbers with the real part in the low half of a word.
 *
 * In the names, b and t are the bottom (low) and the top (high) half of an operand.
 */
#ifndef MCUGEN_DSP_COMPLEX_H
#define MCUGEN_DSP_COMPLEX_H

#include "mcugen/dsp_pairs.h"

#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)

/* Hides the value of x from the compiler, so that x stays in a register during a whole loop. */
#define MG_DSP_HIDE(x) __asm__("" : "+r"(x))

/* a + b and a - b of complex numbers; real and imaginary parts wrap. */
static inline uint32_t mg_dsp_plus(uint32_t a, uint32_t b)
{
    uint32_t y;
    __asm__("sadd16 %0, %1, %2" : "=r"(y) : "r"(a), "r"(b));
    return y;
}

static inline uint32_t mg_dsp_minus(uint32_t a, uint32_t b)
{
    uint32_t y;
    __asm__("ssub16 %0, %1, %2" : "=r"(y) : "r"(a), "r"(b));
    return y;
}

/* a + i b */
static inline uint32_t mg_dsp_plus_quarter(uint32_t a, uint32_t b)
{
    uint32_t y;
    __asm__("sasx %0, %1, %2" : "=r"(y) : "r"(a), "r"(b));
    return y;
}

/* a - i b */
static inline uint32_t mg_dsp_minus_quarter(uint32_t a, uint32_t b)
{
    uint32_t y;
    __asm__("ssax %0, %1, %2" : "=r"(y) : "r"(a), "r"(b));
    return y;
}

/* (a + b) / 2 and (a - b) / 2 of complex numbers; each part is rounded down. */
static inline uint32_t mg_dsp_half_plus(uint32_t a, uint32_t b)
{
    uint32_t y;
    __asm__("shadd16 %0, %1, %2" : "=r"(y) : "r"(a), "r"(b));
    return y;
}

static inline uint32_t mg_dsp_half_minus(uint32_t a, uint32_t b)
{
    uint32_t y;
    __asm__("shsub16 %0, %1, %2" : "=r"(y) : "r"(a), "r"(b));
    return y;
}

/* The larger (or smaller) of a and b, for each half of the word by itself. */
static inline uint32_t mg_dsp_larger(uint32_t a, uint32_t b)
{
    uint32_t y;
    __asm__("ssub16 %0, %1, %2\n\tsel %0, %1, %2" : "=&r"(y) : "r"(a), "r"(b));
    return y;
}

static inline uint32_t mg_dsp_smaller(uint32_t a, uint32_t b)
{
    uint32_t y;
    __asm__("ssub16 %0, %2, %1\n\tsel %0, %1, %2" : "=&r"(y) : "r"(a), "r"(b));
    return y;
}

/* Products of halves of a and b (b: bottom half, t: top half), alone or added to `sum`. */
static inline int32_t mg_dsp_bb(uint32_t a, uint32_t b)
{
    int32_t y;
    __asm__("smulbb %0, %1, %2" : "=r"(y) : "r"(a), "r"(b));
    return y;
}

static inline int32_t mg_dsp_tt(uint32_t a, uint32_t b)
{
    int32_t y;
    __asm__("smultt %0, %1, %2" : "=r"(y) : "r"(a), "r"(b));
    return y;
}

static inline int32_t mg_dsp_add_bb(uint32_t a, uint32_t b, int32_t sum)
{
    int32_t y;
    __asm__("smlabb %0, %1, %2, %3" : "=r"(y) : "r"(a), "r"(b), "r"(sum));
    return y;
}

static inline int32_t mg_dsp_add_tb(uint32_t a, uint32_t b, int32_t sum)
{
    int32_t y;
    __asm__("smlatb %0, %1, %2, %3" : "=r"(y) : "r"(a), "r"(b), "r"(sum));
    return y;
}

static inline int32_t mg_dsp_add_tt(uint32_t a, uint32_t b, int32_t sum)
{
    int32_t y;
    __asm__("smlatt %0, %1, %2, %3" : "=r"(y) : "r"(a), "r"(b), "r"(sum));
    return y;
}

/* Energy of a complex number: re^2 + im^2, unsigned. */
static inline uint32_t mg_dsp_energy(uint32_t a)
{
    uint32_t y;
    __asm__("smuad %0, %1, %1" : "=r"(y) : "r"(a) : "cc");
    return y;
}

/* sum + the real (or imaginary) part of a * b. */
static inline int32_t mg_dsp_add_real(uint32_t a, uint32_t b, int32_t sum)
{
    int32_t y;
    __asm__("smlsd %0, %1, %2, %3" : "=r"(y) : "r"(a), "r"(b), "r"(sum));
    return y;
}

static inline int32_t mg_dsp_add_imaginary(uint32_t a, uint32_t b, int32_t sum)
{
    int32_t y;
    __asm__("smladx %0, %1, %2, %3" : "=r"(y) : "r"(a), "r"(b), "r"(sum) : "cc");
    return y;
}

/* Packs the top halves of two words into one word. */
static inline uint32_t mg_dsp_tops(int32_t low, int32_t high)
{
    uint32_t y;
    __asm__("pkhtb %0, %1, %2, asr #16" : "=r"(y) : "r"(high), "r"(low));
    return y;
}

/* a = x[at], b = x[at + 1]. x: array of words; at: a constant. */
#define MG_DSP_LOAD_TWO(a, b, x, at)                    \
    __asm__("ldrd %0, %1, [%2, %3]"                     \
            : "=&r"(a), "=&r"(b)                        \
            : "r"(x), "i"(4 * (at)), "m"((x)[at]), "m"((x)[(at) + 1]))

/* y = bits 0 to 15 of `low` | (high << n) & 0xFFFF0000. n: a constant. */
#define MG_DSP_JOINED(y, low, high, n) \
    __asm__("pkhbt %0, %1, %2, lsl %3" : "=r"(y) : "r"(low), "r"(high), "I"(n))

#else

#define MG_DSP_HIDE(x) ((void)(x))
#define MG_DSP_LOAD_TWO(a, b, x, at) ((a) = (x)[at], (b) = (x)[(at) + 1])
#define MG_DSP_JOINED(y, low, high, n) ((y) = mg_dsp_pair(low, (int32_t)((uint32_t)(high) << (n)) >> 16))

static inline int32_t mg_dsp_bottom(uint32_t a)
{
    return (int16_t)(a & 0xFFFFu);
}

static inline int32_t mg_dsp_top(uint32_t a)
{
    return (int16_t)(a >> 16);
}

static inline uint32_t mg_dsp_plus(uint32_t a, uint32_t b)
{
    return mg_dsp_pair(mg_dsp_bottom(a) + mg_dsp_bottom(b), mg_dsp_top(a) + mg_dsp_top(b));
}

static inline uint32_t mg_dsp_minus(uint32_t a, uint32_t b)
{
    return mg_dsp_pair(mg_dsp_bottom(a) - mg_dsp_bottom(b), mg_dsp_top(a) - mg_dsp_top(b));
}

static inline uint32_t mg_dsp_plus_quarter(uint32_t a, uint32_t b)
{
    return mg_dsp_pair(mg_dsp_bottom(a) - mg_dsp_top(b), mg_dsp_top(a) + mg_dsp_bottom(b));
}

static inline uint32_t mg_dsp_minus_quarter(uint32_t a, uint32_t b)
{
    return mg_dsp_pair(mg_dsp_bottom(a) + mg_dsp_top(b), mg_dsp_top(a) - mg_dsp_bottom(b));
}

static inline uint32_t mg_dsp_half_plus(uint32_t a, uint32_t b)
{
    return mg_dsp_pair((mg_dsp_bottom(a) + mg_dsp_bottom(b)) >> 1, (mg_dsp_top(a) + mg_dsp_top(b)) >> 1);
}

static inline uint32_t mg_dsp_half_minus(uint32_t a, uint32_t b)
{
    return mg_dsp_pair((mg_dsp_bottom(a) - mg_dsp_bottom(b)) >> 1, (mg_dsp_top(a) - mg_dsp_top(b)) >> 1);
}

static inline uint32_t mg_dsp_larger(uint32_t a, uint32_t b)
{
    return mg_dsp_pair(mg_dsp_bottom(a) > mg_dsp_bottom(b) ? mg_dsp_bottom(a) : mg_dsp_bottom(b),
                       mg_dsp_top(a) > mg_dsp_top(b) ? mg_dsp_top(a) : mg_dsp_top(b));
}

static inline uint32_t mg_dsp_smaller(uint32_t a, uint32_t b)
{
    return mg_dsp_pair(mg_dsp_bottom(a) < mg_dsp_bottom(b) ? mg_dsp_bottom(a) : mg_dsp_bottom(b),
                       mg_dsp_top(a) < mg_dsp_top(b) ? mg_dsp_top(a) : mg_dsp_top(b));
}

static inline int32_t mg_dsp_bb(uint32_t a, uint32_t b)
{
    return mg_dsp_bottom(a) * mg_dsp_bottom(b);
}

static inline int32_t mg_dsp_tt(uint32_t a, uint32_t b)
{
    return mg_dsp_top(a) * mg_dsp_top(b);
}

static inline int32_t mg_dsp_add_bb(uint32_t a, uint32_t b, int32_t sum)
{
    return (int32_t)((uint32_t)mg_dsp_bb(a, b) + (uint32_t)sum);
}

static inline int32_t mg_dsp_add_tb(uint32_t a, uint32_t b, int32_t sum)
{
    return (int32_t)((uint32_t)(mg_dsp_top(a) * mg_dsp_bottom(b)) + (uint32_t)sum);
}

static inline int32_t mg_dsp_add_tt(uint32_t a, uint32_t b, int32_t sum)
{
    return (int32_t)((uint32_t)mg_dsp_tt(a, b) + (uint32_t)sum);
}

static inline uint32_t mg_dsp_energy(uint32_t a)
{
    return (uint32_t)mg_dsp_bb(a, a) + (uint32_t)mg_dsp_tt(a, a);
}

static inline int32_t mg_dsp_add_real(uint32_t a, uint32_t b, int32_t sum)
{
    return (int32_t)((uint32_t)mg_dsp_bb(a, b) - (uint32_t)mg_dsp_tt(a, b) + (uint32_t)sum);
}

static inline int32_t mg_dsp_add_imaginary(uint32_t a, uint32_t b, int32_t sum)
{
    const int32_t first = mg_dsp_bottom(a) * mg_dsp_top(b), second = mg_dsp_top(a) * mg_dsp_bottom(b);
    return (int32_t)((uint32_t)first + (uint32_t)second + (uint32_t)sum);
}

static inline uint32_t mg_dsp_tops(int32_t low, int32_t high)
{
    return mg_dsp_pair(low >> 16, high >> 16);
}

#endif

/* a * factor / 2^16 with a real factor; each part is rounded. round: 2^15, the addend that rounds. */
static inline uint32_t mg_dsp_scaled(uint32_t a, uint32_t factor, int32_t round)
{
    return mg_dsp_tops(mg_dsp_add_bb(a, factor, round), mg_dsp_add_tb(a, factor, round));
}

/* a * t / 2^15 with a complex t; each part is rounded. half: 2^14, the addend that rounds. */
static inline uint32_t mg_dsp_turned(uint32_t a, uint32_t t, int32_t half)
{
    uint32_t y;
    MG_DSP_JOINED(y, mg_dsp_add_real(a, t, half) >> 15, mg_dsp_add_imaginary(a, t, half), 1);
    return y;
}

/* a * factor / 2^15 with a real factor; each part is rounded. half: 2^14, the addend that rounds. */
static inline uint32_t mg_dsp_times(uint32_t a, int32_t factor, int32_t half)
{
    uint32_t y;
    MG_DSP_JOINED(y, mg_dsp_add_bb(a, (uint32_t)factor, half) >> 15, mg_dsp_add_tb(a, (uint32_t)factor, half), 1);
    return y;
}

#endif /* MCUGEN_DSP_COMPLEX_H */
