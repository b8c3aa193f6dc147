/* SPDX-License-Identifier: Apache-2.0
 *
 * Float data between two bounds: ReLU and its like.
 *
 *   y = min(max(x, out_min), out_max)
 *
 * Equals Relu.reference.
 */
#ifndef MCUGEN_CLAMP_F32_H
#define MCUGEN_CLAMP_F32_H

#include "mcugen/runtime.h"

typedef struct {
    float out_min, out_max;
} mg_clamp_f32_params;

/* n elements; out may be in. */
void mg_clamp_f32(const mg_clamp_f32_params *p, const mg_f32 *in, mg_f32 *out, uint32_t n);

#endif /* MCUGEN_CLAMP_F32_H */
