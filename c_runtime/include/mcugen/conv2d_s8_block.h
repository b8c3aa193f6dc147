/* SPDX-License-Identifier: Apache-2.0
 *
 * The inner part of the int8 convolutions: all output channels of one pixel, or of two at once.
 * A pixel's taps are `runs` runs of `run` bytes, run r of a pixel standing at rows[r] + its offset.
 */
#ifndef MCUGEN_CONV2D_S8_BLOCK_H
#define MCUGEN_CONV2D_S8_BLOCK_H

#include "mcugen/conv2d_s8.h"
#include "mcugen/dot_s8.h"

typedef struct {
    const int8_t *const *rows;
    uint32_t runs, run;
} mg_conv2d_s8_taps;

static inline int8_t mg_conv2d_s8_store(const mg_conv2d_s8_params *p, uint32_t o, int32_t acc)
{
    const int32_t y = mg_requantize(acc, p->mult[o], p->shift[o]) + p->out_zero_point;
    return (int8_t)mg_clamp(y, p->out_min, p->out_max);
}

/* The last channel of an odd number, one pixel. */
static inline void mg_conv2d_s8_last(const mg_conv2d_s8_params *p, const mg_conv2d_s8_taps *t, const int8_t *w,
                                     int32_t offset, int8_t *out)
{
    const uint32_t o = (uint32_t)p->out_c - 1u;
    int32_t acc[1] = {p->bias[o]};
    for (uint32_t r = 0u; r < t->runs; r += 1u) {
        mg_dot_1x1_s8(acc, t->rows[r] + offset, w + r * t->run, t->run);
    }
    out[o] = mg_conv2d_s8_store(p, o, acc[0]);
}

static inline void mg_conv2d_s8_one(const mg_conv2d_s8_params *p, const mg_conv2d_s8_taps *t, int32_t offset, int8_t *out)
{
    const uint32_t pairs = (uint32_t)p->out_c & ~1u;
    const uint32_t taps = t->runs * t->run;
    for (uint32_t o = 0u; o < pairs; o += 2u) {
        const int8_t *const w = p->weights + o * taps;
        int32_t acc[2] = {p->bias[o], p->bias[o + 1u]};
        for (uint32_t r = 0u; r < t->runs; r += 1u) {
            mg_dot_1x2_s8(acc, t->rows[r] + offset, w + 2u * r * t->run, t->run);
        }
        out[o] = mg_conv2d_s8_store(p, o, acc[0]);
        out[o + 1u] = mg_conv2d_s8_store(p, o + 1u, acc[1]);
    }
    if (pairs < p->out_c) {
        mg_conv2d_s8_last(p, t, p->weights + pairs * taps, offset, out);
    }
}

static inline void mg_conv2d_s8_two(const mg_conv2d_s8_params *p, const mg_conv2d_s8_taps *t, int32_t offset0,
                                    int32_t offset1, int8_t *out)
{
    const uint32_t pairs = (uint32_t)p->out_c & ~1u;
    const uint32_t taps = t->runs * t->run;
    int8_t *const out1 = out + p->out_c;
    for (uint32_t o = 0u; o < pairs; o += 2u) {
        const int8_t *const w = p->weights + o * taps;
        int32_t acc[4] = {p->bias[o], p->bias[o + 1u], p->bias[o], p->bias[o + 1u]};
        for (uint32_t r = 0u; r < t->runs; r += 1u) {
            mg_dot_2x2_s8(acc, t->rows[r] + offset0, t->rows[r] + offset1, w + 2u * r * t->run, t->run);
        }
        out[o] = mg_conv2d_s8_store(p, o, acc[0]);
        out[o + 1u] = mg_conv2d_s8_store(p, o + 1u, acc[1]);
        out1[o] = mg_conv2d_s8_store(p, o, acc[2]);
        out1[o + 1u] = mg_conv2d_s8_store(p, o + 1u, acc[3]);
    }
    if (pairs < p->out_c) {
        mg_conv2d_s8_last(p, t, p->weights + pairs * taps, offset0, out);
        mg_conv2d_s8_last(p, t, p->weights + pairs * taps, offset1, out1);
    }
}

#endif /* MCUGEN_CONV2D_S8_BLOCK_H */
