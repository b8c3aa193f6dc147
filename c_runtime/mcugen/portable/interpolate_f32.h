/* SPDX-License-Identifier: Apache-2.0
 *
 * Resizes one axis: each result is a weighted sum of `taps` input elements.
 */
#ifndef MCUGEN_INTERPOLATE_F32_H
#define MCUGEN_INTERPOLATE_F32_H

#include "mcugen/runtime.h"

typedef struct {
    const int32_t *index; /* [size_out, taps], within the axis */
    const float *weight;  /* [size_out, taps] */
    uint32_t outer, size_in, size_out, inner, taps;
} mg_interpolate_f32_params;

/* Computes whole tensors, [outer, size_in, inner] to [outer, size_out, inner]. */
void mg_interpolate_f32(const mg_interpolate_f32_params *p, const mg_f32 *in, mg_f32 *out);

#endif /* MCUGEN_INTERPOLATE_F32_H */
