/* SPDX-License-Identifier: Apache-2.0
 *
 * Leaky ReLU of int16 data.
 *
 *   x = in - in_zero_point
 *   y = clamp(out_zero_point + (x >= 0 ? requantize(x, mult, shift)
 *                                      : negative_sign * requantize(x, negative_mult, negative_shift)))
 *
 * Equals the reference runtime's LeakyRelu for int16.
 */
#ifndef MCUGEN_LEAKY_RELU_S16_H
#define MCUGEN_LEAKY_RELU_S16_H

#include "mcugen/runtime.h"

typedef struct {
    int32_t mult, negative_mult;
    int16_t in_zero_point, out_zero_point;
    int8_t shift, negative_shift;
    int8_t negative_sign;
} mg_leaky_relu_s16_params;

/* Computes n elements; `out` may be equal to `in`. */
void mg_leaky_relu_s16(const mg_leaky_relu_s16_params *p, const mg_s16 *in, mg_s16 *out, uint32_t n);

#endif /* MCUGEN_LEAKY_RELU_S16_H */
