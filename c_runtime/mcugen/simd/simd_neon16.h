/* SPDX-License-Identifier: Apache-2.0
 *
 * The operations of simd_plain.h for products of bytes with weights of 16 bits, on every 64-bit Arm processor: SMLAL
 * adds the products of four taps to the four partial sums of a channel, which are added at the end.
 */
#ifndef MCUGEN_SIMD_NEON16_H
#define MCUGEN_SIMD_NEON16_H

#include "mcugen/simd_neon.h"

#define MG_TARGET_neon16

/* Four partial sums of each of two channels. */
typedef struct {
    int32x4_t low, high;
} mg_neon16_two;

/* Channels 0 and 1 in a, up to 14 and 15 in h. */
typedef struct {
    mg_neon16_two a, b, c, d, e, f, g, h;
} mg_neon16_sums;

typedef struct {
    int16x8_t a, b, c, d, e, f, g, h;
} mg_neon16_weights;

/* Four taps, twice. */
typedef int16x8_t mg_neon16_taps;

MG_NEON mg_neon16_sums mg_neon16_zero(void)
{
    const mg_neon16_two zero = {vdupq_n_s32(0), vdupq_n_s32(0)};
    const mg_neon16_sums s = {zero, zero, zero, zero, zero, zero, zero, zero};
    return s;
}

MG_NEON mg_neon16_weights mg_neon16_load_s8w16(const int16_t *w)
{
    const mg_neon16_weights found = {vld1q_s16(w),      vld1q_s16(w + 8),  vld1q_s16(w + 16), vld1q_s16(w + 24),
                                     vld1q_s16(w + 32), vld1q_s16(w + 40), vld1q_s16(w + 48), vld1q_s16(w + 56)};
    return found;
}

MG_NEON mg_neon16_taps mg_neon16_taps_s8(const uint8_t *x)
{
    return vmovl_s8(vget_low_s8(mg_neon_taps_s8(x)));
}

MG_NEON mg_neon16_two mg_neon16_products(mg_neon16_two s, int16x8_t x, int16x8_t w)
{
    s.low = vmlal_s16(s.low, vget_low_s16(x), vget_low_s16(w));
    s.high = vmlal_high_s16(s.high, x, w);
    return s;
}

MG_NEON mg_neon16_sums mg_neon16_dot(mg_neon16_sums s, mg_neon16_taps x, mg_neon16_weights w)
{
    s.a = mg_neon16_products(s.a, x, w.a);
    s.b = mg_neon16_products(s.b, x, w.b);
    s.c = mg_neon16_products(s.c, x, w.c);
    s.d = mg_neon16_products(s.d, x, w.d);
    s.e = mg_neon16_products(s.e, x, w.e);
    s.f = mg_neon16_products(s.f, x, w.f);
    s.g = mg_neon16_products(s.g, x, w.g);
    s.h = mg_neon16_products(s.h, x, w.h);
    return s;
}

/* The sums of four channels. */
MG_NEON int32x4_t mg_neon16_added(mg_neon16_two a, mg_neon16_two b)
{
    return vpaddq_s32(vpaddq_s32(a.low, a.high), vpaddq_s32(b.low, b.high));
}

MG_NEON void mg_neon16_store_dots(int32_t *to, mg_neon16_sums s)
{
    vst1q_s32(to, mg_neon16_added(s.a, s.b));
    vst1q_s32(to + 4, mg_neon16_added(s.c, s.d));
    vst1q_s32(to + 8, mg_neon16_added(s.e, s.f));
    vst1q_s32(to + 12, mg_neon16_added(s.g, s.h));
}

#define mg_neon16_finish mg_neon_finish

#endif /* MCUGEN_SIMD_NEON16_H */
