/* SPDX-License-Identifier: Apache-2.0
 *
 * Rounds a float to the nearest integer, halves to even, without a library function.
 */
#ifndef MCUGEN_ROUND_EVEN_H
#define MCUGEN_ROUND_EVEN_H

#include "mcugen/runtime.h"

/* Adding 1.5 * 2^23 leaves no bits below 1, and rounds as all float additions do. Numbers beyond 2^20 become 2^20. */
static inline int32_t mg_round_even(float x)
{
    const float floored = x > -1048576.0f ? x : -1048576.0f;
    const float bounded = floored < 1048576.0f ? floored : 1048576.0f;
    union {
        float number;
        int32_t bits;
    } sum;
    sum.number = bounded + 12582912.0f;
    return sum.bits - 0x4B400000;
}

#endif /* MCUGEN_ROUND_EVEN_H */
