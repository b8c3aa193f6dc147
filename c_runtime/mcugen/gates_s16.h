/* SPDX-License-Identifier: Apache-2.0
 *
 * Gates of recurrent layers in int16. No instruction depends on the data: the time of a step is constant.
 *
 * MG_GATE_FIELDS: fields of layers on int8 data, behind their weights w, of the data, and r, of the state:
 *
 * w_bias, r_bias  one for each row of the weights; w_bias has the zero point of the data folded in
 * w_mult, w_shift, r_mult, r_shift  the scale of each row, see mg_gate_sum; w_left and r_left, too
 * table           sigmoid(i / 24) for i = 0 .. 255
 * factor          what brings sums of gates to steps of 1 / (3 * 4096)
 * low, high       the clamp of sums
 */
#ifndef MCUGEN_GATES_S16_H
#define MCUGEN_GATES_S16_H

#include "mcugen/runtime.h"

#define MG_GATE_FIELDS \
    const int32_t *w_bias, *r_bias, *w_mult, *r_mult; \
    const uint8_t *w_shift, *r_shift; \
    const uint16_t *table; \
    uint32_t steps, batches, inputs, hidden; \
    int32_t factor, low, high;

/* The smaller of two numbers whose difference fits 32 bits. */
static inline int32_t mg_flat_smaller(int32_t a, int32_t b)
{
    const int32_t over = a - b;
    return b + (over & mg_sign(over));
}

/* x clamped to [low, high]; differences fit 32 bits. */
static inline int32_t mg_flat_clamp(int32_t x, int32_t low, int32_t high)
{
    const int32_t below = low - x;
    return mg_flat_smaller(low - (below & mg_sign(below)), high);
}

/* x saturated to int16, |x| < 2^30 */
static inline int32_t mg_flat_s16(int32_t x)
{
#if defined(__ARM_FEATURE_SAT) && !defined(MCUGEN_CHECK_TEXT)
    int32_t y;
    __asm__("ssat %0, #16, %1" : "=r"(y) : "r"(x));
    return y;
#else
    return mg_flat_clamp(x, INT16_MIN, INT16_MAX);
#endif
}

/* (sum * 2^left * mult / 2^32) / 2^(shift + 1) to the nearest, halves up, saturated to int16. sum * 2^left fits 32 bits;
 * mult is not negative, shift <= 30 */
static inline int32_t mg_gate_sum(int32_t sum, uint32_t left, int32_t mult, uint32_t shift)
{
    const int64_t product = (int64_t)(int32_t)((uint32_t)sum << left) * mult;
    return mg_flat_s16((((int32_t)(product >> 32) >> shift) + 1) >> 1);
}

/* a * b / 2^15 to the nearest, halves up; the product fits 31 bits */
static inline int32_t mg_gate_product(int32_t a, int32_t b)
{
    return (a * b + (1 << 14)) >> 15;
}

/* The functions of gates: a table of sigmoid(i / 24), the factor that brings sums to steps of 1 / (3 * 4096), and the
 * bounds of sums. */
typedef struct {
    const uint16_t *table;
    int32_t factor, low, high;
} mg_gates;

/* logistic(x / (3 * 4096)) and tanh(x / (3 * 4096)) with 15 fraction bits, for |x| < 2^30, by interpolation between the
 * 256 entries of a table of sigmoid(i / 24). They equal the functions in sigmoid_s16.h. */
static inline int32_t mg_gate_logistic(const uint16_t *table, int32_t x)
{
    const int32_t sign = mg_sign(x), size = mg_flat_smaller((x ^ sign) - sign, (255 << 9) - 1);
    const uint16_t *const at = table + (size >> 9);
    const int32_t low = at[0], y = low * 512 + (size & 511) * (at[1] - low);
    return (((y ^ sign) - sign) + ((1 << 25) & sign) + 512 + sign) >> 10;
}

static inline int32_t mg_gate_tanh(const uint16_t *table, int32_t x)
{
    const int32_t sign = mg_sign(x), size = mg_flat_smaller((x ^ sign) - sign, (255 << 8) - 1);
    const uint16_t *const at = table + (size >> 8);
    const int32_t low = at[0], y = low * 256 + (size & 255) * (at[1] - low) - (1 << 23);
    return (((y ^ sign) - sign) + 128 + sign) >> 8;
}

/* A sum of gates in the steps of the table, within the bounds; the sum fits 17 bits. */
static inline int32_t mg_gate_limited(mg_gates gates, int32_t sum)
{
    const int32_t narrow = mg_flat_s16(sum);
    return gates.factor * (gates.low == INT16_MIN ? narrow : mg_flat_clamp(narrow, gates.low, gates.high));
}

/* The upper byte of an int16 state, to the nearest, halves up: what products read of it. */
static inline int32_t mg_gate_byte(int32_t state)
{
    return mg_flat_smaller((state + 128) >> 8, INT8_MAX);
}

#endif /* MCUGEN_GATES_S16_H */
