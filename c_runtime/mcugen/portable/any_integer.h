/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of any integer type. A number selects the type: 0 int8, 1 uint8, 2 int16, 3 int32, 4 int64, 5 bool.
 */
#ifndef MCUGEN_ANY_INTEGER_H
#define MCUGEN_ANY_INTEGER_H

#include "mcugen/runtime.h"

static inline int64_t mg_integer_at(uint32_t kind, const void *in, uint32_t i)
{
    switch (kind) {
    case 0u:
        return ((const int8_t *)in)[i];
    case 2u:
        return ((const mg_s16 *)in)[i];
    case 3u:
        return ((const mg_s32 *)in)[i];
    case 4u:
        return ((const mg_s64 *)in)[i];
    default:
        return ((const uint8_t *)in)[i];
    }
}

/* Stores the low bits of x; as a bool, 1 if x is not 0. */
static inline void mg_store_integer(uint32_t kind, void *out, uint32_t i, int64_t x)
{
    switch (kind) {
    case 0u:
        ((int8_t *)out)[i] = (int8_t)x;
        break;
    case 1u:
        ((uint8_t *)out)[i] = (uint8_t)x;
        break;
    case 2u:
        ((mg_s16 *)out)[i] = (int16_t)x;
        break;
    case 3u:
        ((mg_s32 *)out)[i] = (int32_t)x;
        break;
    case 4u:
        ((mg_s64 *)out)[i] = x;
        break;
    default:
        ((uint8_t *)out)[i] = x != 0 ? 1u : 0u;
        break;
    }
}

#endif /* MCUGEN_ANY_INTEGER_H */
