/* SPDX-License-Identifier: Apache-2.0
 *
 * 9-bit weights stored in 8 bits, such as legacy uint8 weights minus their zero point. A stored weight is w + zero, so
 * that sum(w * x) = sum(stored * x) - zero * sum(x). The sum of x is the same for all channels of a pixel.
 */
#ifndef MCUGEN_NINE_H
#define MCUGEN_NINE_H

#include "mcugen/runtime.h"

static inline int32_t mg_sum_s8(const int8_t *x, uint32_t n)
{
    const uint32_t quads = n & ~3u;
    int32_t sum = 0;
    for (uint32_t k = 0u; k < quads; k += 4u) {
        const int8_t *const p = x + k;
        sum += p[0] + p[1] + p[2] + p[3];
    }
    for (uint32_t k = quads; k < n; k += 1u) {
        sum += x[k];
    }
    return sum;
}

#endif /* MCUGEN_NINE_H */
