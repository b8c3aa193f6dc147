/* SPDX-License-Identifier: Apache-2.0
 *
 * PReLU of one stored integer: the value itself if it is positive, else its product with a slope.
 *
 *   y = clamp(out_zero_point + (x >= 0 ? requantize(x, mult, shift)
 *                                      : requantize(x * alpha, alpha_mult, alpha_shift)))
 *
 * x and alpha without their zero points
 */
#ifndef MCUGEN_PRELU_H
#define MCUGEN_PRELU_H

#include "mcugen/runtime.h"

typedef struct {
    int32_t mult, alpha_mult;
    int16_t x_zero_point, alpha_zero_point, out_zero_point;
    int8_t shift, alpha_shift;
} mg_prelu;

static inline int32_t mg_prelu_of(const mg_prelu *p, int32_t stored_x, int32_t stored_alpha)
{
    const int32_t x = stored_x - p->x_zero_point;
    const int32_t alpha = stored_alpha - p->alpha_zero_point;
    const int32_t y = x >= 0 ? mg_requantize(x, p->mult, p->shift)
                             : mg_requantize(x * alpha, p->alpha_mult, p->alpha_shift);
    return mg_clamp(y + p->out_zero_point, INT8_MIN, INT8_MAX);
}

#endif /* MCUGEN_PRELU_H */
