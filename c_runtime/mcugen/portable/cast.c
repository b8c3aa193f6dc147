/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/cast.h"

static int32_t integer_at(uint32_t kind, const void *in, uint32_t i)
{
    switch (kind) {
    case 0u:
        return ((const int8_t *)in)[i];
    case 2u:
        return ((const mg_s16 *)in)[i];
    case 3u:
        return ((const mg_s32 *)in)[i];
    default:
        return ((const uint8_t *)in)[i];
    }
}

static void store_integer(uint32_t kind, void *out, uint32_t i, int32_t x)
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
        ((mg_s32 *)out)[i] = x;
        break;
    case 4u:
        ((mg_f32 *)out)[i] = (float)x;
        break;
    default:
        ((uint8_t *)out)[i] = x != 0 ? 1u : 0u;
        break;
    }
}

/* x truncated and saturated to the integer type. */
static int32_t whole_of(uint32_t kind, float x)
{
    static const int32_t low[4] = {INT8_MIN, 0, INT16_MIN, INT32_MIN};
    static const int32_t high[4] = {INT8_MAX, UINT8_MAX, INT16_MAX, INT32_MAX};
    if (x > -2147483648.0f && x < 2147483648.0f) {
        return mg_clamp((int32_t)x, low[kind], high[kind]);
    }
    return x > 0.0f ? high[kind] : low[kind];
}

static void store_float(uint32_t kind, void *out, uint32_t i, float x)
{
    if (kind == 4u) {
        ((mg_f32 *)out)[i] = x;
    } else if (kind == 5u) {
        ((uint8_t *)out)[i] = (x < 0.0f || x > 0.0f) ? 1u : 0u;
    } else {
        store_integer(kind, out, i, whole_of(kind, x));
    }
}

void mg_cast(const mg_cast_params *p, const void *in, void *out, uint32_t n)
{
    const uint32_t from = p->from;
    const uint32_t to = p->to;
    for (uint32_t i = 0u; i < n; i += 1u) {
        if (from == 4u) {
            store_float(to, out, i, ((const mg_f32 *)in)[i]);
        } else {
            store_integer(to, out, i, integer_at(from, in, i));
        }
    }
}
