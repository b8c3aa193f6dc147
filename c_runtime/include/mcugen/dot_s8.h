/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocked int8 dot products. Weights of a block of output channels are interleaved: w[k * channels + channel].
 * The caller has proved, when the code was generated, that no sum can leave 32 bits.
 */
#ifndef MCUGEN_DOT_S8_H
#define MCUGEN_DOT_S8_H

#include "mcugen/runtime.h"

static inline int32_t mg_mac(int32_t acc, int32_t x, int32_t w)
{
    return acc + x * w;
}

/* One tap of two pixels and two channels. acc: pixel 0 channels 0 and 1, then pixel 1. */
static inline void mg_tap_2x2(int32_t *acc, int32_t x0, int32_t x1, int32_t w0, int32_t w1)
{
    acc[0] = mg_mac(acc[0], x0, w0);
    acc[1] = mg_mac(acc[1], x0, w1);
    acc[2] = mg_mac(acc[2], x1, w0);
    acc[3] = mg_mac(acc[3], x1, w1);
}

/* acc[2 * pixel + channel] += sum over k < n of x_pixel[k] * w[2 * k + channel] */
static inline void mg_dot_2x2_s8(int32_t *acc, const int8_t *x0, const int8_t *x1, const int8_t *w, uint32_t n)
{
    const uint32_t quads = n & ~3u;
    for (uint32_t k = 0u; k < quads; k += 4u) {
        const int8_t *const p0 = x0 + k;
        const int8_t *const p1 = x1 + k;
        const int8_t *const q = w + 2u * k;
        mg_tap_2x2(acc, p0[0], p1[0], q[0], q[1]);
        mg_tap_2x2(acc, p0[1], p1[1], q[2], q[3]);
        mg_tap_2x2(acc, p0[2], p1[2], q[4], q[5]);
        mg_tap_2x2(acc, p0[3], p1[3], q[6], q[7]);
    }
    for (uint32_t k = quads; k < n; k += 1u) {
        mg_tap_2x2(acc, x0[k], x1[k], w[2u * k], w[2u * k + 1u]);
    }
}

/* acc[channel] += sum over k < n of x[k] * w[channels * k + channel], for 1, 2 or 4 interleaved channels */
static inline void mg_dot_1x1_s8(int32_t *acc, const int8_t *x, const int8_t *w, uint32_t n)
{
    for (uint32_t k = 0u; k < n; k += 1u) {
        acc[0] = mg_mac(acc[0], x[k], w[k]);
    }
}

static inline void mg_dot_1x2_s8(int32_t *acc, const int8_t *x, const int8_t *w, uint32_t n)
{
    for (uint32_t k = 0u; k < n; k += 1u) {
        acc[0] = mg_mac(acc[0], x[k], w[2u * k]);
        acc[1] = mg_mac(acc[1], x[k], w[2u * k + 1u]);
    }
}

static inline void mg_tap_1x4(int32_t *acc, int32_t x, const int8_t *w)
{
    acc[0] = mg_mac(acc[0], x, w[0]);
    acc[1] = mg_mac(acc[1], x, w[1]);
    acc[2] = mg_mac(acc[2], x, w[2]);
    acc[3] = mg_mac(acc[3], x, w[3]);
}

static inline void mg_dot_1x4_s8(int32_t *acc, const int8_t *x, const int8_t *w, uint32_t n)
{
    const uint32_t quads = n & ~3u;
    for (uint32_t k = 0u; k < quads; k += 4u) {
        const int8_t *const p = x + k;
        const int8_t *const q = w + 4u * k;
        mg_tap_1x4(acc, p[0], q);
        mg_tap_1x4(acc, p[1], q + 4);
        mg_tap_1x4(acc, p[2], q + 8);
        mg_tap_1x4(acc, p[3], q + 12);
    }
    for (uint32_t k = quads; k < n; k += 1u) {
        mg_tap_1x4(acc, x[k], w + 4u * k);
    }
}

#endif /* MCUGEN_DOT_S8_H */
