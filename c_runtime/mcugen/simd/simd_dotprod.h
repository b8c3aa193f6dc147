/* SPDX-License-Identifier: Apache-2.0
 *
 * The operations of simd_plain.h that products of bytes need, with the dot products of Armv8.2: SDOT adds the products
 * of four taps to the sum of each channel.
 */
#ifndef MCUGEN_SIMD_DOTPROD_H
#define MCUGEN_SIMD_DOTPROD_H

#include "mcugen/simd_neon.h"

#define MG_TARGET_dotprod __attribute__((target("arch=armv8.2-a+dotprod")))
#define MG_DOTPROD static inline __attribute__((target("arch=armv8.2-a+dotprod"), always_inline))

/* Sums of channels 0 to 3, 4 to 7, 8 to 11 and 12 to 15. */
typedef struct {
    int32x4_t a, b, c, d;
} mg_dotprod_sums;

typedef mg_neon_weights mg_dotprod_weights;

typedef int8x16_t mg_dotprod_taps;

MG_DOTPROD mg_dotprod_sums mg_dotprod_zero(void)
{
    const int32x4_t zero = vdupq_n_s32(0);
    const mg_dotprod_sums s = {zero, zero, zero, zero};
    return s;
}

MG_DOTPROD mg_dotprod_weights mg_dotprod_load_s8(const int8_t *w)
{
    const mg_dotprod_weights found = {vld1q_s8(w), vld1q_s8(w + 16), vld1q_s8(w + 32), vld1q_s8(w + 48)};
    return found;
}

/* Four taps in the first lane. */
MG_DOTPROD mg_dotprod_taps mg_dotprod_taps_s8(const void *x)
{
    mg_dotprod_taps taps;
    __asm__("ldr %s0, %1" : "=w"(taps) : "m"(*(const mg_4_bytes *)x));
    return taps;
}

/* s += the products of the taps in a lane of x with the weights of each channel */
#define MG_DOTPROD_LANE(lane)                 \
    s.a = vdotq_laneq_s32(s.a, w.a, x, lane); \
    s.b = vdotq_laneq_s32(s.b, w.b, x, lane); \
    s.c = vdotq_laneq_s32(s.c, w.c, x, lane); \
    s.d = vdotq_laneq_s32(s.d, w.d, x, lane);

MG_DOTPROD mg_dotprod_sums mg_dotprod_dot(mg_dotprod_sums s, mg_dotprod_taps x, mg_dotprod_weights w)
{
    MG_DOTPROD_LANE(0)
    return s;
}

/* Deep operations: 16 taps, the weights of four taps at a time. */
typedef int8x16_t mg_dotprod_deep_taps;
typedef mg_dotprod_weights mg_dotprod_deep_weights;

MG_DOTPROD mg_dotprod_deep_taps mg_dotprod_deep_taps_s8(const uint8_t *x)
{
    return vreinterpretq_s8_u8(vld1q_u8(x));
}

/* The weights of a part, taps 4 * part to 4 * part + 3. */
MG_DOTPROD mg_dotprod_deep_weights mg_dotprod_deep_load_s8(const int8_t *w, uint32_t part)
{
    return mg_dotprod_load_s8(w + 64u * part);
}

MG_DOTPROD mg_dotprod_sums mg_dotprod_deep_dot_0(mg_dotprod_sums s, mg_dotprod_deep_taps x, mg_dotprod_deep_weights w)
{
    MG_DOTPROD_LANE(0)
    return s;
}

MG_DOTPROD mg_dotprod_sums mg_dotprod_deep_dot_1(mg_dotprod_sums s, mg_dotprod_deep_taps x, mg_dotprod_deep_weights w)
{
    MG_DOTPROD_LANE(1)
    return s;
}

MG_DOTPROD mg_dotprod_sums mg_dotprod_deep_dot_2(mg_dotprod_sums s, mg_dotprod_deep_taps x, mg_dotprod_deep_weights w)
{
    MG_DOTPROD_LANE(2)
    return s;
}

MG_DOTPROD mg_dotprod_sums mg_dotprod_deep_dot_3(mg_dotprod_sums s, mg_dotprod_deep_taps x, mg_dotprod_deep_weights w)
{
    MG_DOTPROD_LANE(3)
    return s;
}

#undef MG_DOTPROD_LANE

MG_DOTPROD void mg_dotprod_store_dots(int32_t *to, mg_dotprod_sums s)
{
    vst1q_s32(to, s.a);
    vst1q_s32(to + 4, s.b);
    vst1q_s32(to + 8, s.c);
    vst1q_s32(to + 12, s.d);
}

#define mg_dotprod_finish mg_neon_finish

#endif /* MCUGEN_SIMD_DOTPROD_H */
