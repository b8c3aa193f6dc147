/* SPDX-License-Identifier: Apache-2.0
 *
 * Combines numbers one after the other. Kinds: 0 adds, 1 multiplies, 2 takes the largest, 3 takes the smallest.
 * Integers wrap.
 */
#ifndef MCUGEN_FOLD_H
#define MCUGEN_FOLD_H

#include "mcugen/runtime.h"

static inline int64_t mg_fold_integers(uint32_t how, int64_t a, int64_t b)
{
    switch (how) {
    case 0u:
        return (int64_t)((uint64_t)a + (uint64_t)b);
    case 1u:
        return (int64_t)((uint64_t)a * (uint64_t)b);
    case 2u:
        return a > b ? a : b;
    default:
        return a < b ? a : b;
    }
}

static inline float mg_fold_floats(uint32_t how, float a, float b)
{
    switch (how) {
    case 0u:
        return a + b;
    case 1u:
        return a * b;
    case 2u:
        return a > b ? a : b;
    default:
        return a < b ? a : b;
    }
}

#endif /* MCUGEN_FOLD_H */
