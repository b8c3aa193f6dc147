/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the kernels with weights: parameter fields, and names in templates.
 *
 * Such a kernel is written once for all element types, in a template header. A source file that includes a template
 * first defines MG_TYPE, for example conv2d_s8, and MG_SYMBOL, the name of the function. It also declares:
 *
 *   MG_NAME(f)                            mg_conv2d_s8_f
 *   MG_NAME(params)                       the parameter struct
 *   MG_NAME(x), MG_NAME(w), MG_NAME(acc)  types of data, weights and sums
 *   MG_NAME(store)(p, o, acc)             the output of channel o                    } filter_s8_template.h and
 *   MG_NAME(store_run)(p, o, n, acc, out) n outputs, channels o to o + n - 1         } its like for other types
 *   MG_NAME(outside)(p)                   the value of data outside the image        } define these
 *
 * Template headers have no include guard: they are included once per type.
 */
#ifndef MCUGEN_FILTER_H
#define MCUGEN_FILTER_H

#include "mcugen/runtime.h"

#define MG_PASTE_(a, b, c) a##b##c
#define MG_PASTE(a, b, c) MG_PASTE_(a, b, c)
#define MG_NAME(name) MG_PASTE(mg_, MG_TYPE, _##name)

/* A window that slides over rows. Output columns [inside_first, inside_end) read nothing outside the image. */
#define MG_WINDOW_FIELDS       \
    uint16_t kernel_h, kernel_w; \
    uint16_t in_w, in_c;         \
    uint16_t out_w, out_c;       \
    uint16_t stride_w, dilation_w, pad_w; \
    uint16_t inside_first, inside_end;

/* mult, shift: per output channel. all_right: 1 if every shift is negative, that is, to the right. */
#define MG_INTEGER_FIELDS \
    const int32_t *mult;  \
    const int8_t *shift;  \
    int16_t out_zero_point, out_min, out_max; \
    uint8_t all_right;

/* mg_requantize for shift < 0, without a branch. */
static inline int32_t mg_requantize_right(int32_t x, int32_t mult, int32_t shift)
{
    const int32_t high = mg_high_mul(x, mult);
    return (((high + mg_sign(high)) >> (uint32_t)(-1 - shift)) + 1) >> 1;
}

/* x * mult * 2^(shift - 31), rounded to the nearest, halves up, for shift < 0; the result fits 32 bits. */
static inline int32_t mg_requantize_once(int32_t x, int32_t mult, int32_t shift)
{
    const uint32_t right = (uint32_t)(-shift);
    return (int32_t)(((int64_t)x * mult + ((int64_t)1 << (30u + right))) >> (31u + right));
}

/* x * mult * 2^(shift - 15), rounded once; mult has 16 bits. Equals MultiplyByQuantizedMultiplier of 64 bit sums. */
static inline int32_t mg_requantize_wide(int64_t x, int32_t mult, int32_t shift)
{
    const uint32_t total = (uint32_t)(15 - shift);
    return (int32_t)((x * mult + ((int64_t)1 << (total - 1u))) >> total);
}

/* x * mult * 2^(shift - 31), rounded to the nearest, halves away from zero. The product fits 64 bits, the result 32. */
static inline int32_t mg_requantize_away(int64_t x, int32_t mult, int32_t shift)
{
    const uint32_t total = (uint32_t)(31 - shift);
    return (int32_t)((x * mult + ((int64_t)1 << (total - 1u)) - (int64_t)(x < 0)) >> total);
}

/* mg_requantize_away for sums of up to 47 bits; a result beyond 32 bits becomes INT32_MIN. */
static inline int32_t mg_requantize_away_any(int64_t x, int32_t mult, int32_t shift)
{
    const uint32_t total = (uint32_t)(31 - shift);
    const uint64_t size = (uint64_t)(x < 0 ? -x : x), m = (uint32_t)mult;
    uint64_t y = (uint64_t)1 << 31;
    if (size < (uint64_t)1 << 32) {
        y = (size * m + ((uint64_t)1 << (total - 1u))) >> total;
    } else if (total > 16u) {
        y = ((size >> 16) * m + ((size & 0xFFFFu) * m >> 16) + ((uint64_t)1 << (total - 17u))) >> (total - 16u);
    }
    if (y >= (uint64_t)1 << 31) {
        return INT32_MIN;
    }
    return x < 0 ? -(int32_t)y : (int32_t)y;
}

#endif /* MCUGEN_FILTER_H */
