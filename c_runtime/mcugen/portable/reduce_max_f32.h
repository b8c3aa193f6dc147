/* SPDX-License-Identifier: Apache-2.0
 *
 * Largest value over axes of float data.
 *
 * Equals ReduceMax.reference for float.
 */
#ifndef MCUGEN_REDUCE_MAX_F32_H
#define MCUGEN_REDUCE_MAX_F32_H

#include "mcugen/runtime.h"

typedef struct {
    const uint32_t *kept, *kept_stride;       /* [3], slowest first, in elements */
    const uint32_t *reduced, *reduced_stride; /* [3] */
} mg_reduce_max_f32_params;

/* Whole tensors; the input is walked by its `kept` and `reduced` dimensions, three of each. */
void mg_reduce_max_f32(const mg_reduce_max_f32_params *p, const mg_f32 *in, mg_f32 *out);

#endif /* MCUGEN_REDUCE_MAX_F32_H */
