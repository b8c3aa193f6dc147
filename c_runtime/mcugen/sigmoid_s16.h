/* SPDX-License-Identifier: Apache-2.0
 *
 * Logistic and tanh of int16, by interpolation between the 256 entries of a table of sigmoid(i / 24).
 * Equals the reference runtime's Logistic and Tanh for int16 data.
 */
#ifndef MCUGEN_SIGMOID_S16_H
#define MCUGEN_SIGMOID_S16_H

#include "mcugen/runtime.h"

/* logistic(x / (3 * 4096)) and tanh(x / (3 * 4096)), with 15 fraction bits */
static inline int32_t mg_logistic_s16_of(const uint16_t *table, int32_t x)
{
    const uint32_t size = (uint32_t)(x < 0 ? -x : x);
    const uint32_t at = size >> 9;
    uint32_t y = (uint32_t)INT16_MAX << 10;
    if (at < 255u) {
        const uint32_t low = table[at];
        const uint32_t high = table[at + 1u];
        y = (low << 9) + (size & 0x1ffu) * (high - low);
    }
    return (int16_t)((x < 0 ? ((uint32_t)1 << 25) - y + 511u : y + 512u) >> 10);
}

static inline int32_t mg_tanh_s16_of(const uint16_t *table, int32_t x)
{
    const int32_t one = (int32_t)1 << 23;
    const uint32_t size = (uint32_t)(x < 0 ? -x : x);
    const uint32_t at = size >> 8;
    int32_t y = (int32_t)UINT16_MAX << 8;
    if (at < 255u) {
        const int32_t low = table[at];
        const int32_t high = table[at + 1u];
        y = (low << 8) + (int32_t)(size & 0xffu) * (high - low);
    }
    return (int16_t)((x < 0 ? one - y + 127 : y - one + 128) >> 8);
}

#endif /* MCUGEN_SIGMOID_S16_H */
