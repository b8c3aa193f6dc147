/* SPDX-License-Identifier: Apache-2.0
 *
 * Four numbers of 32 bits in a vector of Helium: the operations of signal operators, with the bits of bits.h,
 * channel_gain.h and scaled_log.h. Compilers turn C operators on vectors into instructions; this file adds the rest.
 */
#ifndef MCUGEN_MVE_LANES_H
#define MCUGEN_MVE_LANES_H

#include "mcugen/runtime.h"

#if defined(__ARM_FEATURE_MVE) && !defined(MCUGEN_CHECK_TEXT)

typedef uint32_t mg_lanes __attribute__((vector_size(16)));
typedef int32_t mg_signed_lanes __attribute__((vector_size(16)));

/* a - b; 0 if b is larger. */
static MCUGEN_INLINE mg_lanes mg_lanes_excess(mg_lanes a, mg_lanes b)
{
    mg_lanes y;
    __asm__("vqsub.u32 %q0, %q1, %q2" : "=w"(y) : "w"(a), "w"(b));
    return y;
}

static MCUGEN_INLINE mg_lanes mg_lanes_larger(mg_lanes a, mg_lanes b)
{
    mg_lanes y;
    __asm__("vmax.u32 %q0, %q1, %q2" : "=w"(y) : "w"(a), "w"(b));
    return y;
}

static MCUGEN_INLINE mg_lanes mg_lanes_smaller(mg_lanes a, mg_lanes b)
{
    mg_lanes y;
    __asm__("vmin.u32 %q0, %q1, %q2" : "=w"(y) : "w"(a), "w"(b));
    return y;
}

/* a << b; 0 for b = 32. */
static MCUGEN_INLINE mg_lanes mg_lanes_shifted(mg_lanes a, mg_lanes b)
{
    mg_lanes y;
    __asm__("vshl.u32 %q0, %q1, %q2" : "=w"(y) : "w"(a), "w"(b));
    return y;
}

/* round(a * b / 2^32) of signed numbers. */
static MCUGEN_INLINE mg_lanes mg_lanes_high_product(mg_lanes a, mg_lanes b)
{
    mg_lanes y;
    __asm__("vrmulh.s32 %q0, %q1, %q2" : "=w"(y) : "w"(a), "w"(b));
    return y;
}

static MCUGEN_INLINE mg_lanes mg_lanes_signed_larger(mg_lanes a, mg_lanes b)
{
    mg_lanes y;
    __asm__("vmax.s32 %q0, %q1, %q2" : "=w"(y) : "w"(a), "w"(b));
    return y;
}

static MCUGEN_INLINE mg_lanes mg_lanes_signed_smaller(mg_lanes a, mg_lanes b)
{
    mg_lanes y;
    __asm__("vmin.s32 %q0, %q1, %q2" : "=w"(y) : "w"(a), "w"(b));
    return y;
}

static MCUGEN_INLINE mg_lanes mg_lanes_leading_zeros(mg_lanes a)
{
    mg_lanes y;
    __asm__("vclz.i32 %q0, %q1" : "=w"(y) : "w"(a));
    return y;
}

/* A vector with the number a in every lane. */
static MCUGEN_INLINE mg_lanes mg_lanes_all(uint32_t a)
{
    mg_lanes y;
    __asm__("vdup.32 %q0, %1" : "=w"(y) : "r"(a));
    return y;
}

/* A vector with `even` in lanes 0 and 2, `odd` in lanes 1 and 3. */
static MCUGEN_INLINE mg_lanes mg_lanes_in_turn(uint32_t even, uint32_t odd)
{
    const mg_lanes y = {even, odd, even, odd};
    return y;
}

static MCUGEN_INLINE mg_lanes mg_lanes_read(const void *from)
{
    mg_lanes y;
    __asm__("vldrw.u32 %q0, [%1]" : "=w"(y) : "r"(from) : "memory");
    return y;
}

static MCUGEN_INLINE void mg_lanes_store_32(void *to, mg_lanes y)
{
    __asm__ volatile("vstrw.32 %q0, [%1]" : : "w"(y), "r"(to) : "memory");
}

static MCUGEN_INLINE void mg_lanes_store_16(void *to, mg_lanes y)
{
    __asm__ volatile("vstrh.32 %q0, [%1]" : : "w"(y), "r"(to) : "memory");
}

static MCUGEN_INLINE void mg_lanes_store_8(void *to, mg_lanes y)
{
    __asm__ volatile("vstrb.32 %q0, [%1]" : : "w"(y), "r"(to) : "memory");
}

/* table[places] in each lane, from a table of int32 (words) or of uint16 (halves). */
static MCUGEN_INLINE mg_lanes mg_lanes_of_words(const int32_t *table, mg_lanes places)
{
    mg_lanes y;
    __asm__("vldrw.u32 %q0, [%1, %q2, uxtw #2]" : "=&w"(y) : "r"(table), "w"(places) : "memory");
    return y;
}

static MCUGEN_INLINE mg_lanes mg_lanes_of_halves(const uint16_t *table, mg_lanes places)
{
    mg_lanes y;
    __asm__("vldrh.u32 %q0, [%1, %q2, uxtw #1]" : "=&w"(y) : "r"(table), "w"(places) : "memory");
    return y;
}

static MCUGEN_INLINE mg_lanes mg_lanes_signed_right(mg_lanes a, uint32_t shift)
{
    return (mg_lanes)((mg_signed_lanes)a >> (int32_t)shift);
}

/* The low 32 bits of (x * factors) >> shift, factors < 2^16, shift <= 16. */
static MCUGEN_INLINE mg_lanes mg_lanes_scaled_part(mg_lanes x, mg_lanes factors, uint32_t shift)
{
    return (((x >> 16) * factors) << (16u - shift)) + (((x & 0xFFFFu) * factors) >> shift);
}

/* The low 32 bits of (x * a + y * b) >> shift, a + b <= 65,536, shift <= 16. */
static MCUGEN_INLINE mg_lanes mg_lanes_scaled_sum(mg_lanes x, mg_lanes a, mg_lanes y, mg_lanes b, uint32_t shift)
{
    const mg_lanes high = (x >> 16) * a + (y >> 16) * b, low = (x & 0xFFFFu) * a + (y & 0xFFFFu) * b;
    return (high << (16u - shift)) + (low >> shift);
}

/* mg_channel_gain in each lane. */
static MCUGEN_INLINE mg_lanes mg_lanes_gain(const int32_t *gains, mg_lanes noise)
{
    const mg_lanes zeros = mg_lanes_leading_zeros(noise);
    const mg_lanes place = (mg_lanes_shifted(noise, zeros) << 1) >> 22;
    const mg_lanes entry = zeros * 3u;
    const mg_lanes bend = mg_lanes_signed_right(mg_lanes_of_words(gains + 2, entry) * place, 5u);
    const mg_lanes slope = mg_lanes_of_words(gains + 1, entry) + bend;
    return mg_lanes_signed_right((mg_lanes_of_words(gains, entry) + slope * place) << 1, 16u);
}

/* mg_with_gain in each lane, for gains of at least 0: the larger of its two formulas, with the ratio limited to 8191 in
 * the square. */
static MCUGEN_INLINE mg_lanes mg_lanes_with_gain(mg_lanes x, mg_lanes gain, uint32_t shift)
{
    const mg_lanes ratio = mg_lanes_scaled_part(x, gain, shift);
    const mg_lanes small = mg_lanes_smaller(ratio, mg_lanes_all(8191u));
    return mg_lanes_larger((small * small) >> 20, mg_lanes_excess(ratio >> 6, mg_lanes_all(64u)));
}

/* mg_scaled_log in each lane. */
static MCUGEN_INLINE mg_lanes mg_lanes_scaled_log(const uint16_t *bends, mg_lanes given, uint32_t scale, uint32_t shift)
{
    const mg_lanes x = mg_lanes_larger(given, mg_lanes_all(1u)); /* 0 counts as 1, whose logarithm is 0 */
    const mg_lanes zeros = mg_lanes_leading_zeros(x);
    const mg_lanes part = (mg_lanes_shifted(x, zeros) << 1) >> 16;
    const mg_lanes segment = part >> 9;
    const mg_lanes low = mg_lanes_of_halves(bends, segment), high = mg_lanes_of_halves(bends + 1, segment);
    const mg_lanes between = mg_lanes_signed_right((high - low) * (part & 511u), 16u);
    const mg_lanes binary = ((mg_lanes_all(31u) - zeros) << 16) + part + low + between;
    const mg_lanes natural = mg_lanes_high_product(binary << 6, mg_lanes_all(45426u << 10));
    return (natural * scale + ((uint32_t)1 << shift >> 1)) >> shift;
}

/* clamp((x * factor + addend) >> shift, low, high) */
static MCUGEN_INLINE mg_lanes mg_lanes_line(mg_lanes x, uint32_t factor, uint32_t addend, uint32_t shift, int32_t low, int32_t high)
{
    const mg_lanes y = mg_lanes_signed_right(x * factor + addend, shift);
    const mg_lanes floored = mg_lanes_signed_larger(y, mg_lanes_all((uint32_t)low));
    return mg_lanes_signed_smaller(floored, mg_lanes_all((uint32_t)high));
}

#endif

#endif /* MCUGEN_MVE_LANES_H */
