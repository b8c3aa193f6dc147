/* SPDX-License-Identifier: Apache-2.0
 *
 * Product of two stored integers.
 *
 *   y = clamp(requantize((a - a_zero_point) * (b - b_zero_point), mult, shift) + out_zero_point)
 */
#ifndef MCUGEN_PRODUCT_H
#define MCUGEN_PRODUCT_H

#include "mcugen/runtime.h"

typedef struct {
    int32_t mult;
    int16_t a_zero_point, b_zero_point, out_zero_point;
    int16_t out_min, out_max;
    int8_t shift;
} mg_product;

static inline int32_t mg_product_of(const mg_product *p, int32_t a, int32_t b)
{
    const int32_t raw = (a - p->a_zero_point) * (b - p->b_zero_point);
    return mg_clamp(mg_requantize(raw, p->mult, p->shift) + p->out_zero_point, p->out_min, p->out_max);
}

/* mg_product_of for a shift below 0, which needs only the right shift of mg_requantize. */
static inline int32_t mg_product_down(const mg_product *p, int32_t a, int32_t b)
{
    const int32_t high = mg_high_mul((a - p->a_zero_point) * (b - p->b_zero_point), p->mult);
    const int32_t y = (((high + mg_sign(high)) >> (uint32_t)(-1 - p->shift)) + 1) >> 1;
    return mg_clamp(y + p->out_zero_point, p->out_min, p->out_max);
}

#endif /* MCUGEN_PRODUCT_H */
