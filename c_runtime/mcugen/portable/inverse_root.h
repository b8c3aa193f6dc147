/* SPDX-License-Identifier: Apache-2.0
 *
 * Inverse square root of an integer, by five steps of Newton's method. Equals GetInvSqrtQuantizedMultiplierExp.
 */
#ifndef MCUGEN_INVERSE_ROOT_H
#define MCUGEN_INVERSE_ROOT_H

#include "mcugen/runtime.h"

/* The number mult * 2^(-31 - down); mg_requantize multiplies by it with the shift -down. */
typedef struct {
    int32_t mult, down;
} mg_inverse_root;

/* The rounded high half of the doubled product, for numbers of any sign. */
static inline int32_t mg_signed_high_mul(int32_t a, int32_t b)
{
    const int64_t doubled = (int64_t)a * b;
    const int64_t nudge = doubled >= 0 ? (int64_t)1 << 30 : 1 - ((int64_t)1 << 30);
    return (int32_t)((doubled + nudge) / ((int64_t)1 << 31));
}

static inline int32_t mg_raised(int32_t x, int32_t factor)
{
    const int64_t wide = (int64_t)x * factor;
    return wide > INT32_MAX ? INT32_MAX : (wide < INT32_MIN ? INT32_MIN : (int32_t)wide);
}

/* The inverse square root of a number >= 0; 0 counts as 1. */
static inline mg_inverse_root mg_inverse_root_of(int32_t total)
{
    mg_inverse_root found = {INT32_MAX, 0};
    int32_t x = (int32_t)1 << 28, shift = 11, rest = total;
    if (total <= 1) {
        return found;
    }
    for (uint32_t k = 0u; k < 2u; k += 1u) {
        shift += rest >= ((int32_t)1 << 29) ? 1 : 0;
        rest = rest >= ((int32_t)1 << 29) ? rest / 4 : rest;
    }
    for (uint32_t k = 0u; k < 14u; k += 1u) {
        const int32_t small = rest < ((int32_t)1 << 27) ? 1 : 0;
        shift -= small;
        rest *= small != 0 ? 4 : 1;
    }
    const int32_t half = mg_divide_by_pot(rest >> 1, 1u);
    for (uint32_t k = 0u; k < 5u; k += 1u) {
        const int32_t cube = mg_raised(mg_signed_high_mul(mg_signed_high_mul(x, x), x), 64);
        const int32_t step = mg_signed_high_mul(((int32_t)1 << 28) + ((int32_t)1 << 27), x) - mg_signed_high_mul(half, cube);
        x = mg_raised(step, 8);
    }
    found.mult = mg_signed_high_mul(x, 1518500250);
    found.mult = shift < 0 ? found.mult * ((int32_t)1 << (uint32_t)-shift) : found.mult;
    found.down = shift < 0 ? 0 : shift;
    return found;
}

#endif /* MCUGEN_INVERSE_ROOT_H */
