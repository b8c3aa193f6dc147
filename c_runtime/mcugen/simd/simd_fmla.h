/* SPDX-License-Identifier: Apache-2.0
 *
 * The operations on 16 floats of simd_scalar.h with the vectors that every 64-bit Arm processor has, in four of four.
 * FMLA rounds once.
 */
#ifndef MCUGEN_SIMD_FMLA_H
#define MCUGEN_SIMD_FMLA_H

#include <arm_neon.h>

#include "mcugen/simd_floats.h"

#define MG_TARGET_fmla
#define MG_FMLA static inline __attribute__((always_inline))

typedef struct {
    float32x4_t a, b, c, d;
} mg_fmla_sums;

/* A float in the first lane. */
typedef float32x4_t mg_fmla_one;

/* Four floats, of which each lane is multiplied with the weights of another tap. */
typedef float32x4_t mg_fmla_four;

MG_FMLA mg_fmla_sums mg_fmla_load(const mg_f32 *from)
{
    const mg_fmla_sums s = {vld1q_f32(from), vld1q_f32(from + 4), vld1q_f32(from + 8), vld1q_f32(from + 12)};
    return s;
}

/* A comparison selects, so that NaN is treated as in plain C. */
MG_FMLA mg_fmla_sums mg_fmla_larger(mg_fmla_sums x, mg_fmla_sums y)
{
    const mg_fmla_sums s = {vbslq_f32(vcgtq_f32(x.a, y.a), x.a, y.a), vbslq_f32(vcgtq_f32(x.b, y.b), x.b, y.b),
                            vbslq_f32(vcgtq_f32(x.c, y.c), x.c, y.c), vbslq_f32(vcgtq_f32(x.d, y.d), x.d, y.d)};
    return s;
}

MG_FMLA mg_fmla_one mg_fmla_share(const mg_f32 *x)
{
    mg_fmla_one first;
    __asm__("ldr %s0, %1" : "=w"(first) : "m"(*x));
    return first;
}

MG_FMLA mg_fmla_four mg_fmla_take(const mg_f32 *x)
{
    return vld1q_f32(x);
}

/* s + a lane of x * w */
#define MG_FMLA_LANE(lane)                       \
    s.a = vfmaq_laneq_f32(s.a, w.a, x, lane);    \
    s.b = vfmaq_laneq_f32(s.b, w.b, x, lane);    \
    s.c = vfmaq_laneq_f32(s.c, w.c, x, lane);    \
    s.d = vfmaq_laneq_f32(s.d, w.d, x, lane);    \
    return s;

MG_FMLA mg_fmla_sums mg_fmla_add(mg_fmla_sums s, mg_fmla_one x, mg_fmla_sums w)
{
    MG_FMLA_LANE(0)
}

MG_FMLA mg_fmla_sums mg_fmla_add_0(mg_fmla_sums s, mg_fmla_four x, mg_fmla_sums w)
{
    MG_FMLA_LANE(0)
}

MG_FMLA mg_fmla_sums mg_fmla_add_1(mg_fmla_sums s, mg_fmla_four x, mg_fmla_sums w)
{
    MG_FMLA_LANE(1)
}

MG_FMLA mg_fmla_sums mg_fmla_add_2(mg_fmla_sums s, mg_fmla_four x, mg_fmla_sums w)
{
    MG_FMLA_LANE(2)
}

MG_FMLA mg_fmla_sums mg_fmla_add_3(mg_fmla_sums s, mg_fmla_four x, mg_fmla_sums w)
{
    MG_FMLA_LANE(3)
}

#undef MG_FMLA_LANE

MG_FMLA mg_fmla_sums mg_fmla_add_each(mg_fmla_sums s, mg_fmla_sums x, mg_fmla_sums w)
{
    s.a = vfmaq_f32(s.a, x.a, w.a);
    s.b = vfmaq_f32(s.b, x.b, w.b);
    s.c = vfmaq_f32(s.c, x.c, w.c);
    s.d = vfmaq_f32(s.d, x.d, w.d);
    return s;
}

/* x clamped; NaN stays. */
MG_FMLA float32x4_t mg_fmla_clamp(float32x4_t x, float low, float high)
{
    return vminq_f32(vmaxq_f32(x, vdupq_n_f32(low)), vdupq_n_f32(high));
}

MG_FMLA void mg_fmla_store(mg_f32 *to, mg_fmla_sums s, uint32_t n, float low, float high)
{
    float some[MG_SIMD_LANES];
    s.a = mg_fmla_clamp(s.a, low, high);
    s.b = mg_fmla_clamp(s.b, low, high);
    s.c = mg_fmla_clamp(s.c, low, high);
    s.d = mg_fmla_clamp(s.d, low, high);
    if (n == MG_SIMD_LANES) {
        vst1q_f32(to, s.a);
        vst1q_f32(to + 4, s.b);
        vst1q_f32(to + 8, s.c);
        vst1q_f32(to + 12, s.d);
        return;
    }
    vst1q_f32(some, s.a);
    vst1q_f32(some + 4, s.b);
    vst1q_f32(some + 8, s.c);
    vst1q_f32(some + 12, s.d);
    (void)memcpy(to, some, n * sizeof(*to));
}

#endif /* MCUGEN_SIMD_FMLA_H */
