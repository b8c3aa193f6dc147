/* SPDX-License-Identifier: Apache-2.0
 *
 * The vector operations of simd_plain.h with the vectors that every 64-bit Arm processor has.
 *
 * SMULL and SMLAL add the products of a tap and of the tap four further on, which fit 16 bits because no weight is
 * -128; SADALP adds pairs of these to the sums of 32 bits. So each channel has two partial sums, which are added at the
 * end.
 */
#ifndef MCUGEN_SIMD_NEON_H
#define MCUGEN_SIMD_NEON_H

#include <arm_neon.h>

#include "mcugen/simd_plain.h"

#define MG_TARGET_neon
#define MG_PIXELS_neon 5u /* that depthwise convolutions compute together */
#define MG_NEON static inline __attribute__((always_inline))

/* Two partial sums of each of 16 channels: a_low of channels 0 and 1, a_high of 2 and 3, up to d_high of 14 and 15. */
typedef struct {
    int32x4_t a_low, a_high, b_low, b_high, c_low, c_high, d_low, d_high;
} mg_neon_sums;

/* Weights of four channels and four taps in each vector. */
typedef struct {
    int8x16_t a, b, c, d;
} mg_neon_weights;

/* Four taps, four times. */
typedef int8x16_t mg_neon_taps;

MG_NEON mg_neon_sums mg_neon_zero(void)
{
    const int32x4_t zero = vdupq_n_s32(0);
    const mg_neon_sums s = {zero, zero, zero, zero, zero, zero, zero, zero};
    return s;
}

MG_NEON mg_neon_weights mg_neon_load_s8(const int8_t *w)
{
    const mg_neon_weights found = {vld1q_s8(w), vld1q_s8(w + 16), vld1q_s8(w + 32), vld1q_s8(w + 48)};
    return found;
}

MG_NEON mg_neon_taps mg_neon_taps_s8(const uint8_t *x)
{
    int32_t four;
    (void)memcpy(&four, x, sizeof(four));
    return vreinterpretq_s8_s32(vdupq_n_s32(four));
}

/* sums + the products of the taps with the weights of channels 0 and 1 of w, or 2 and 3. */
MG_NEON int32x4_t mg_neon_low(int32x4_t sums, int8x16_t x, int8x16_t w)
{
    return vpadalq_s16(sums, vmull_s8(vget_low_s8(x), vget_low_s8(w)));
}

MG_NEON int32x4_t mg_neon_high(int32x4_t sums, int8x16_t x, int8x16_t w)
{
    return vpadalq_s16(sums, vmull_high_s8(x, w));
}

MG_NEON mg_neon_sums mg_neon_dot(mg_neon_sums s, mg_neon_taps x, mg_neon_weights w)
{
    s.a_low = mg_neon_low(s.a_low, x, w.a);
    s.a_high = mg_neon_high(s.a_high, x, w.a);
    s.b_low = mg_neon_low(s.b_low, x, w.b);
    s.b_high = mg_neon_high(s.b_high, x, w.b);
    s.c_low = mg_neon_low(s.c_low, x, w.c);
    s.c_high = mg_neon_high(s.c_high, x, w.c);
    s.d_low = mg_neon_low(s.d_low, x, w.d);
    s.d_high = mg_neon_high(s.d_high, x, w.d);
    return s;
}

/* Deep operations: eight taps, the weights of eight channels at a time. */
typedef int32x4x2_t mg_neon_deep_taps;

/* Weights of four channels and four taps in each vector: a and b for the first taps, c and d for the others. */
typedef mg_neon_weights mg_neon_deep_weights;

MG_NEON mg_neon_deep_taps mg_neon_deep_taps_s8(const uint8_t *x)
{
    return vld2q_dup_s32((const int32_t *)(const void *)x);
}

/* The weights of a part, channels 8 * part to 8 * part + 7. */
MG_NEON mg_neon_deep_weights mg_neon_deep_load_s8(const int8_t *w, uint32_t part)
{
    const int8_t *const first = w + 32u * part, *const second = first + MG_SIMD_LANES * MG_SIMD_TAPS;
    const mg_neon_weights found = {vld1q_s8(first), vld1q_s8(first + 16), vld1q_s8(second), vld1q_s8(second + 16)};
    return found;
}

/* sums + the products of eight taps with the weights of channels 0 and 1 of v and w, or 2 and 3. */
MG_NEON int32x4_t mg_neon_deep_low(int32x4_t sums, mg_neon_deep_taps x, int8x16_t v, int8x16_t w)
{
    const int8x16_t first = vreinterpretq_s8_s32(x.val[0]), second = vreinterpretq_s8_s32(x.val[1]);
    const int16x8_t products = vmull_s8(vget_low_s8(first), vget_low_s8(v));
    return vpadalq_s16(sums, vmlal_s8(products, vget_low_s8(second), vget_low_s8(w)));
}

MG_NEON int32x4_t mg_neon_deep_high(int32x4_t sums, mg_neon_deep_taps x, int8x16_t v, int8x16_t w)
{
    const int8x16_t first = vreinterpretq_s8_s32(x.val[0]), second = vreinterpretq_s8_s32(x.val[1]);
    return vpadalq_s16(sums, vmlal_high_s8(vmull_high_s8(first, v), second, w));
}

MG_NEON mg_neon_sums mg_neon_deep_dot_0(mg_neon_sums s, mg_neon_deep_taps x, mg_neon_deep_weights w)
{
    s.a_low = mg_neon_deep_low(s.a_low, x, w.a, w.c);
    s.a_high = mg_neon_deep_high(s.a_high, x, w.a, w.c);
    s.b_low = mg_neon_deep_low(s.b_low, x, w.b, w.d);
    s.b_high = mg_neon_deep_high(s.b_high, x, w.b, w.d);
    return s;
}

MG_NEON mg_neon_sums mg_neon_deep_dot_1(mg_neon_sums s, mg_neon_deep_taps x, mg_neon_deep_weights w)
{
    s.c_low = mg_neon_deep_low(s.c_low, x, w.a, w.c);
    s.c_high = mg_neon_deep_high(s.c_high, x, w.a, w.c);
    s.d_low = mg_neon_deep_low(s.d_low, x, w.b, w.d);
    s.d_high = mg_neon_deep_high(s.d_high, x, w.b, w.d);
    return s;
}

MG_NEON void mg_neon_store_dots(int32_t *to, mg_neon_sums s)
{
    vst1q_s32(to, vpaddq_s32(s.a_low, s.a_high));
    vst1q_s32(to + 4, vpaddq_s32(s.b_low, s.b_high));
    vst1q_s32(to + 8, vpaddq_s32(s.c_low, s.c_high));
    vst1q_s32(to + 12, vpaddq_s32(s.d_low, s.d_high));
}

/* sums + x * the weights of 16 channels, w of channels 0 to 7 and v of channels 8 to 15; a_low has the sums of channels
 * 0 to 3. */
MG_NEON mg_neon_sums mg_neon_channels(mg_neon_sums s, const mg_s16 *x, int16x8_t w, int16x8_t v)
{
    const int16x8_t low = vld1q_s16((const int16_t *)x), high = vld1q_s16((const int16_t *)x + 8);
    s.a_low = vmlal_s16(s.a_low, vget_low_s16(low), vget_low_s16(w));
    s.b_low = vmlal_high_s16(s.b_low, low, w);
    s.c_low = vmlal_s16(s.c_low, vget_low_s16(high), vget_low_s16(v));
    s.d_low = vmlal_high_s16(s.d_low, high, v);
    return s;
}

MG_NEON mg_neon_sums mg_neon_dot_s16(mg_neon_sums s, const mg_s16 *a, const mg_s16 *b, const int16_t *w)
{
    const int16x8_t first = vld1q_s16(w), second = vld1q_s16(w + 8), third = vld1q_s16(w + 16);
    const int16x8_t fourth = vld1q_s16(w + 24);
    s = mg_neon_channels(s, a, vuzp1q_s16(first, third), vuzp1q_s16(second, fourth));
    __asm__ volatile(""); /* further elements are not loaded ahead */
    return mg_neon_channels(s, b, vuzp2q_s16(first, third), vuzp2q_s16(second, fourth));
}

/* sums + a * w[c] + b * w[16 + c] on bytes: two products fit 16 bits, as no weight is -128. */
MG_NEON mg_neon_sums mg_neon_dot_s8(mg_neon_sums s, const int8_t *a, const int8_t *b, const int8_t *w)
{
    const int8x16_t x = vld1q_s8(a), y = vld1q_s8(b), v = vld1q_s8(w), u = vld1q_s8(w + 16);
    const int16x8_t first = vmull_s8(vget_low_s8(x), vget_low_s8(v));
    const int16x8_t low = vmlal_s8(first, vget_low_s8(y), vget_low_s8(u));
    const int16x8_t high = vmlal_high_s8(vmull_high_s8(x, v), y, u);
    s.a_low = vaddw_s16(s.a_low, vget_low_s16(low));
    s.b_low = vaddw_high_s16(s.b_low, low);
    s.c_low = vaddw_s16(s.c_low, vget_low_s16(high));
    s.d_low = vaddw_high_s16(s.d_low, high);
    __asm__ volatile(""); /* further elements are not loaded ahead */
    return s;
}

MG_NEON void mg_neon_store_pairs(int32_t *to, mg_neon_sums s)
{
    vst1q_s32(to, s.a_low);
    vst1q_s32(to + 4, s.b_low);
    vst1q_s32(to + 8, s.c_low);
    vst1q_s32(to + 12, s.d_low);
}

MG_NEON void mg_neon_widen(const int8_t *in, mg_s16 *out, int32_t zero, uint32_t n)
{
    const uint32_t whole = n & ~15u;
    const int16x8_t least = vdupq_n_s16((int16_t)zero);
    for (uint32_t i = 0u; i < whole; i += 16u) {
        const int8x16_t bytes = vld1q_s8(in + i);
        vst1q_s16((int16_t *)out + i, vsubq_s16(vmovl_s8(vget_low_s8(bytes)), least));
        vst1q_s16((int16_t *)out + i + 8, vsubq_s16(vmovl_high_s8(bytes), least));
    }
    mg_plain_widen(in + whole, out + whole, zero, n - whole);
}

/* mg_requantize_right of four sums; left: the shifts, less than 0. */
MG_NEON int32x4_t mg_neon_twice(int32x4_t x, int32x4_t mult, int32x4_t left)
{
    const int32x4_t high = vqrdmulhq_s32(x, mult);
    return vrshlq_s32(vsraq_n_s32(high, high, 31), left);
}

/* Two sums, for mg_neon_once. */
MG_NEON int32x2_t mg_neon_away(int64x2_t product, int32x2_t left)
{
    const int64x2_t shift = vsubw_s32(vmovl_s32(left), vdup_n_s32(31));
    return vmovn_s64(vrshlq_s64(vsraq_n_s64(product, product, 63), shift));
}

/* mg_requantize_away of four sums. */
MG_NEON int32x4_t mg_neon_once(int32x4_t x, int32x4_t mult, int32x4_t left)
{
    const int32x2_t low = mg_neon_away(vmull_s32(vget_low_s32(x), vget_low_s32(mult)), vget_low_s32(left));
    return vcombine_s32(low, mg_neon_away(vmull_high_s32(x, mult), vget_high_s32(left)));
}

/* 16 words as bytes, with the zero point, saturated and clamped. */
MG_NEON int8x16_t mg_neon_bytes(int32x4_t a, int32x4_t b, int32x4_t c, int32x4_t d, int16x8_t zero)
{
    const int16x8_t low = vqaddq_s16(vqmovn_high_s32(vqmovn_s32(a), b), zero);
    const int16x8_t high = vqaddq_s16(vqmovn_high_s32(vqmovn_s32(c), d), zero);
    return vqmovn_high_s16(vqmovn_s16(low), high);
}

/* Constants of 16 channels, four in each part. left: the shifts, less than 0. */
typedef struct {
    int32x4_t a, b, c, d;
} mg_neon_words;

typedef struct {
    mg_neon_words bias, mult, left;
    int16x8_t zero;
    int8x16_t least, most;
} mg_neon_scale;

MG_NEON mg_neon_words mg_neon_load(const int32_t *from)
{
    const mg_neon_words found = {vld1q_s32(from), vld1q_s32(from + 4), vld1q_s32(from + 8), vld1q_s32(from + 12)};
    return found;
}

MG_NEON mg_neon_scale mg_neon_scale_of(const mg_simd_scale *p, uint32_t o)
{
    const int8x16_t left = vnegq_s8(vld1q_s8((const int8_t *)p->right + o));
    const int16x8_t low = vmovl_s8(vget_low_s8(left)), high = vmovl_high_s8(left);
    mg_neon_scale s;
    s.bias = mg_neon_load(p->bias + o);
    s.mult = mg_neon_load(p->mult + o);
    s.left.a = vmovl_s16(vget_low_s16(low));
    s.left.b = vmovl_high_s16(low);
    s.left.c = vmovl_s16(vget_low_s16(high));
    s.left.d = vmovl_high_s16(high);
    s.zero = vdupq_n_s16(p->zero_point);
    s.least = vdupq_n_s8((int8_t)p->low);
    s.most = vdupq_n_s8((int8_t)p->high);
    return s;
}

MG_NEON mg_neon_words mg_neon_sum(const int32_t *sums, const mg_neon_scale *p)
{
    mg_neon_words x = mg_neon_load(sums);
    x.a = vaddq_s32(x.a, p->bias.a);
    x.b = vaddq_s32(x.b, p->bias.b);
    x.c = vaddq_s32(x.c, p->bias.c);
    x.d = vaddq_s32(x.d, p->bias.d);
    return x;
}

/* 16 scaled sums as bytes: n of them are stored. */
MG_NEON void mg_neon_store(int8_t *out, mg_neon_words y, const mg_neon_scale *p, uint32_t n)
{
    const int8x16_t bytes = vminq_s8(vmaxq_s8(mg_neon_bytes(y.a, y.b, y.c, y.d, p->zero), p->least), p->most);
    int8_t all[MG_SIMD_LANES];
    if (n == MG_SIMD_LANES) {
        vst1q_s8(out, bytes);
        return;
    }
    vst1q_s8(all, bytes);
    if (n >= 8u) {
        (void)memcpy(out, all, 8u);
        (void)memcpy(out + n - 8u, all + n - 8u, 8u);
    } else {
        (void)memcpy(out, all, n);
    }
}

MG_NEON void mg_neon_finish_once(const mg_neon_scale *p, const int32_t *sums, uint32_t pixels, int8_t *out,
                                 size_t pitch, uint32_t n)
{
    for (uint32_t i = 0u; i < pixels; i += 1u) {
        const mg_neon_words x = mg_neon_sum(sums, p);
        const mg_neon_words y = {mg_neon_once(x.a, p->mult.a, p->left.a), mg_neon_once(x.b, p->mult.b, p->left.b),
                                 mg_neon_once(x.c, p->mult.c, p->left.c), mg_neon_once(x.d, p->mult.d, p->left.d)};
        mg_neon_store(out, y, p, n);
        sums += MG_SIMD_LANES;
        out += pitch;
    }
}

MG_NEON void mg_neon_finish_twice(const mg_neon_scale *p, const int32_t *sums, uint32_t pixels, int8_t *out,
                                  size_t pitch, uint32_t n)
{
    for (uint32_t i = 0u; i < pixels; i += 1u) {
        const mg_neon_words x = mg_neon_sum(sums, p);
        const mg_neon_words y = {mg_neon_twice(x.a, p->mult.a, p->left.a), mg_neon_twice(x.b, p->mult.b, p->left.b),
                                 mg_neon_twice(x.c, p->mult.c, p->left.c), mg_neon_twice(x.d, p->mult.d, p->left.d)};
        mg_neon_store(out, y, p, n);
        sums += MG_SIMD_LANES;
        out += pitch;
    }
}

/* Functions of their own: their callers need all registers for sums, and the usual one needs few. */
#define MG_NEON_APART static __attribute__((noinline, unused))

MG_NEON_APART void mg_neon_finish_whole(const mg_simd_scale *p, uint32_t o, const int32_t *sums, uint32_t pixels,
                                        int8_t *out, uint32_t pitch)
{
    const mg_neon_scale s = mg_neon_scale_of(p, o);
    mg_neon_finish_twice(&s, sums, pixels, out, pitch, MG_SIMD_LANES);
}

MG_NEON_APART void mg_neon_finish_any(const mg_simd_scale *p, uint32_t o, const int32_t *sums, uint32_t pixels,
                                      int8_t *out, uint32_t pitch, uint32_t n)
{
    const mg_neon_scale s = mg_neon_scale_of(p, o);
    if (p->once != 0u) {
        mg_neon_finish_once(&s, sums, pixels, out, pitch, n);
    } else {
        mg_neon_finish_twice(&s, sums, pixels, out, pitch, n);
    }
}

MG_NEON void mg_neon_finish(const mg_simd_scale *p, uint32_t o, const int32_t *sums, uint32_t pixels, int8_t *out,
                            uint32_t pitch, uint32_t n)
{
    if (n == MG_SIMD_LANES && p->once == 0u) {
        mg_neon_finish_whole(p, o, sums, pixels, out, pitch);
    } else {
        mg_neon_finish_any(p, o, sums, pixels, out, pitch, n);
    }
}

/* Four results of mg_neon_add. */
MG_NEON int32x4_t mg_neon_form(const mg_simd_sum *p, int16x4_t a, int16x4_t b)
{
    const int32x4_t first = vmlaq_s32(vdupq_n_s32(p->addend), vmovl_s16(a), vdupq_n_s32(p->a));
    return vshrq_n_s32(vmlaq_s32(first, vmovl_s16(b), vdupq_n_s32(p->b)), 21);
}

/* Eight of them, saturated. */
MG_NEON int16x8_t mg_neon_forms(const mg_simd_sum *p, int16x8_t a, int16x8_t b)
{
    const int32x4_t low = mg_neon_form(p, vget_low_s16(a), vget_low_s16(b));
    return vqmovn_high_s32(vqmovn_s32(low), mg_neon_form(p, vget_high_s16(a), vget_high_s16(b)));
}

MG_NEON void mg_neon_add(const mg_simd_sum *p, const int8_t *a, const int8_t *b, int8_t *out, uint32_t n)
{
    const int8x16_t least = vdupq_n_s8((int8_t)p->low), most = vdupq_n_s8((int8_t)p->high);
    const uint32_t whole = n & ~15u;
    for (uint32_t i = 0u; i < whole; i += 16u) {
        const int8x16_t x = vld1q_s8(a + i), y = vld1q_s8(b + i);
        const int16x8_t low = mg_neon_forms(p, vmovl_s8(vget_low_s8(x)), vmovl_s8(vget_low_s8(y)));
        const int16x8_t high = mg_neon_forms(p, vmovl_high_s8(x), vmovl_high_s8(y));
        vst1q_s8(out + i, vminq_s8(vmaxq_s8(vqmovn_high_s16(vqmovn_s16(low), high), least), most));
    }
    mg_plain_add(p, a + whole, b + whole, out + whole, n - whole);
}

#endif /* MCUGEN_SIMD_NEON_H */
