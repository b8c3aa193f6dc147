/* SPDX-License-Identifier: Apache-2.0
 *
 * Leaky ReLU of float data.
 *
 *   y = x > 0 ? x : alpha * x
 *
 * Equals LeakyRelu.reference.
 */
#ifndef MCUGEN_LEAKY_RELU_F32_H
#define MCUGEN_LEAKY_RELU_F32_H

#include "mcugen/runtime.h"

typedef struct {
    float alpha;
} mg_leaky_relu_f32_params;

/* n elements; out may be in. */
void mg_leaky_relu_f32(const mg_leaky_relu_f32_params *p, const mg_f32 *in, mg_f32 *out, uint32_t n);

#endif /* MCUGEN_LEAKY_RELU_F32_H */
