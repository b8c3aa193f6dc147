/* SPDX-License-Identifier: Apache-2.0
 *
 * Normalization of rows of integers, without floats, divisions or branches on data.
 *
 * A row of n integers q has the sum S and the sum of squares Q. If the mean is subtracted, the zero point cancels:
 *
 *   V = n * Q - S^2               n^2 times the variance
 *
 * If not, S is n * zero instead, and V is n * sum of (q - zero)^2. From there on:
 *
 *   W = V * 2^up + epsilon        epsilon: in the steps of W, at least 1
 *   m = the upper 32 bits of W * 2^z, for the even z with 2^30 <= m < 2^32
 *   r = floor(2^46 / sqrt(m))     at most 2^31 - 1
 *   d = (n * q - S) * 2^(left + z / 2)          31 bits and a sign, for each element
 *   y = (floor(d * M / 2^32) + offset) >> down  clamped; M = 2 * round(r * gain / 2^32), halves up
 *
 * gain, offset: gamma and beta in steps of y; offset also has the zero point of y, and the half for rounding
 * Equals Normalization.reference_q.
 */
#ifndef MCUGEN_NORM_H
#define MCUGEN_NORM_H

#include "mcugen/runtime.h"

/* n         elements of a row
 * centred   1: the mean is subtracted; 0: only the zero point
 * up        left shift of V, see above;   epsilon_high, epsilon_low: the upper and the lower 32 bits of epsilon
 * zero      zero point of q
 * left      left shift of d; z / 2 is added to it, and the sum is not negative
 * down      right shift of y
 */
typedef struct {
    uint32_t n, centred, up, epsilon_high, epsilon_low;
    int32_t zero, left;
    uint32_t down;
} mg_norm;

/* One row: d = step * q - origin in 32 bits, and r. */
typedef struct {
    uint32_t step, origin, root;
} mg_norm_row;

/* 1 if x^2 * m > 2^92, else 0. */
static MCUGEN_INLINE uint32_t mg_norm_is_above(uint32_t x, uint32_t m)
{
    const uint64_t square = (uint64_t)x * x;
    const uint64_t low = (square & 0xffffffffu) * m;
    const uint64_t high = (square >> 32) * m + (low >> 32);
    return (uint32_t)(high + (uint64_t)((uint32_t)low != 0u) > (uint64_t)1 << 60);
}

/* min(floor(2^46 / sqrt(m)), 2^31 - 1), m >= 2^30. Newton's method from a line, then the last bit. */
static inline uint32_t mg_norm_root(uint32_t m)
{
    uint32_t x = 2319282340u - (uint32_t)(((uint64_t)m * 1309965025u) >> 32);
    for (uint32_t i = 0u; i < 4u; i += 1u) {
        const uint32_t square = (uint32_t)(((uint64_t)x * x) >> 32);
        const uint32_t one = (uint32_t)(((uint64_t)square * m) >> 32);
        x = (uint32_t)(((uint64_t)x * (0x30000000u - one)) >> 29);
    }
    {
        const uint64_t square = (uint64_t)x * x;
        const uint64_t one = (square >> 32) * m + (((square & 0xffffffffu) * m) >> 32);
        const int32_t lacking = (int32_t)((int64_t)(((uint64_t)1 << 60) - one) >> 16);
        x += (uint32_t)(((int64_t)lacking * (int64_t)x) >> 45);
    }
    x -= mg_norm_is_above(x, m);
    x += 1u - mg_norm_is_above(x + 1u, m);
    return x - (x >> 31);
}

/* The number of zero bits above the highest one of x > 0, without a branch. */
static MCUGEN_INLINE uint32_t mg_norm_zeros(uint32_t x)
{
    const uint32_t a = (uint32_t)(x >> 16 == 0u) << 4;
    const uint32_t b = (uint32_t)((x << a) >> 24 == 0u) << 3;
    const uint32_t c = (uint32_t)((x << (a + b)) >> 28 == 0u) << 2;
    const uint32_t d = (uint32_t)((x << (a + b + c)) >> 30 == 0u) << 1;
    return a + b + c + d + 1u - ((x << (a + b + c + d)) >> 31);
}

/* A row with this sum and sum of squares. */
static inline mg_norm_row mg_norm_of(const mg_norm *p, int32_t sum, uint64_t squares)
{
    const int32_t middle = p->centred != 0u ? sum : (int32_t)p->n * p->zero;
    const int64_t cross = (int64_t)middle * (p->centred != 0u ? sum : 2 * sum - middle);
    const uint64_t spread = (uint64_t)p->n * squares - (uint64_t)cross;
    const uint32_t up = p->up & 31u;
    const uint32_t shifted = ((uint32_t)(spread >> 32) << up) | (((uint32_t)spread >> 1) >> (31u - up));
    const uint32_t low = ((uint32_t)spread << up) + p->epsilon_low;
    const uint32_t high = shifted + p->epsilon_high + (uint32_t)(low < p->epsilon_low);
    const uint32_t is_low = 0u - (uint32_t)(high == 0u);
    const uint32_t top = high | (low & is_low), rest = low & ~is_low;
    const uint32_t shift = mg_norm_zeros(top) & 30u;
    const uint32_t m = (top << shift) | ((rest >> 1) >> (31u - shift));
    const uint32_t left = (uint32_t)(p->left + (int32_t)((shift + (is_low & 32u)) >> 1)) & 31u;
    const mg_norm_row row = {p->n << left, (uint32_t)middle << left, mg_norm_root(m)};
    return row;
}

/* M for a gain. */
static MCUGEN_INLINE int32_t mg_norm_slope(mg_norm_row row, int32_t gain)
{
    return (int32_t)(((int64_t)(int32_t)row.root * gain + ((int64_t)1 << 31)) >> 32) * 2;
}

/* y before the clamp. */
static MCUGEN_INLINE int32_t mg_norm_element(mg_norm_row row, int32_t q, int32_t slope, int32_t offset, uint32_t down)
{
    const int32_t d = (int32_t)(row.step * (uint32_t)q - row.origin);
    return ((int32_t)(((int64_t)d * slope) >> 32) + offset) >> down;
}

#endif /* MCUGEN_NORM_H */
