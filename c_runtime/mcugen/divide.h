/* SPDX-License-Identifier: Apache-2.0
 *
 * Exact division by numbers known when the code is generated, without a divide instruction.
 */
#ifndef MCUGEN_DIVIDE_H
#define MCUGEN_DIVIDE_H

#include "mcugen/runtime.h"

/* n / count, rounded down, for n < 2^31. shift = ceil(log2(count)), mult = ceil(2^(31 + shift) / count) */
static inline uint32_t mg_divide(uint32_t n, uint32_t mult, uint32_t shift)
{
    return (uint32_t)(((uint64_t)(2u * n) * mult) >> 32) >> shift;
}

/* sum / count, rounded to the nearest, halves away from zero, for |sum| + count / 2 < 2^31 */
static inline int32_t mg_average(int32_t sum, uint32_t count, uint32_t mult, uint32_t shift)
{
    const uint32_t size = sum < 0 ? (uint32_t)-sum : (uint32_t)sum;
    const int32_t nearest = (int32_t)mg_divide(size + (count >> 1), mult, shift);
    return sum < 0 ? -nearest : nearest;
}

#endif /* MCUGEN_DIVIDE_H */
