/* SPDX-License-Identifier: Apache-2.0
 *
 * Scaling of a channel's sums to outputs, in C.
 */
#ifndef MCUGEN_SWAR_SCALE_H
#define MCUGEN_SWAR_SCALE_H

#include "mcugen/runtime.h"

#define MG_SWAR_LINEAR 1u
#define MG_SWAR_SINGLE 2u
#define MG_SWAR_FOUR 4u

/* Constants of a channel. below: added to the high product if the sum is negative. */
typedef struct {
    int32_t mult, rounding, below, low, span;
    uint32_t shift;
} mg_swar_scale;

/* Reads the constants of a channel; the multiplier is in parts. The high word of 4 * sum * multiplier is sum *
 * multiplier shifted right by 30. */
static inline mg_swar_scale mg_swar_scale_of(const uint32_t *q, uint32_t kind, int32_t low, uint32_t span)
{
    const uint32_t four = kind & MG_SWAR_FOUR;
    const uint32_t mult = four != 0u ? q[0] | q[1] << 8 | q[2] << 16 | q[3] << 24 : q[0] | q[1] << 10 | q[2] << 20;
    const uint32_t drop = four != 0u ? 6u : 10u;
    mg_swar_scale scale = {(int32_t)mult, (int32_t)q[4] >> drop, 0, low, (int32_t)span, 0u};
    scale.below = (kind & MG_SWAR_LINEAR) != 0u ? -2 : 0;
    scale.shift = (four != 0u ? q[5] : q[3]) - drop;
    return scale;
}

/* y clamped to [0, span], plus low */
static inline int8_t mg_swar_clamp(const mg_swar_scale *scale, int32_t y)
{
    int32_t clamped = y;
    if ((uint32_t)y > (uint32_t)scale->span) {
        clamped = y < 0 ? 0 : scale->span;
    }
    return (int8_t)(clamped + scale->low);
}

/* ((4 * acc * mult >> 32) + rounding + (acc < 0 ? below : 0)) >> shift, clamped to [0, span], plus low. below is -2 for
 * the kind that rounds negative sums too (linear), else 0. */
static inline int8_t mg_swar_finish(const mg_swar_scale *scale, int32_t acc)
{
    const int32_t high = (int32_t)(((int64_t)(acc * 4) * scale->mult) >> 32);
    return mg_swar_clamp(scale, (high + scale->rounding + (-(int32_t)((uint32_t)acc >> 31) & scale->below)) >> scale->shift);
}

/* mg_swar_finish for layers that clamp negative sums, which therefore need no subtraction. */
static inline int8_t mg_swar_finish_clamped(const mg_swar_scale *scale, int32_t acc)
{
    const int32_t high = (int32_t)(((int64_t)(acc * 4) * scale->mult) >> 32);
    return mg_swar_clamp(scale, (high + scale->rounding) >> scale->shift);
}

/* mg_swar_finish or mg_swar_finish_clamped. linear: a constant, since this function is inlined. */
static MCUGEN_INLINE int8_t mg_swar_finish_as(uint32_t linear, const mg_swar_scale *scale, int32_t acc)
{
    return linear != 0u ? mg_swar_finish(scale, acc) : mg_swar_finish_clamped(scale, acc);
}

#endif /* MCUGEN_SWAR_SCALE_H */
