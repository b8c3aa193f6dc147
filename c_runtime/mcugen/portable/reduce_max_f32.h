/* SPDX-License-Identifier: Apache-2.0
 *
 * Largest value over axes of float data.
 *
 * Equals ReduceMax.reference for float.
 */
/* Copies of this file, one a line, with these words replaced:
 * f32 -> s16, float -> int16
 * f32 -> s8, mg_f32 -> int8_t, float -> int8
 * max -> min, Largest -> Smallest, ReduceMax -> ReduceMin
 * max_f32 -> min_s16, mg_f32 -> mg_s16, float -> int16, Largest -> Smallest, ReduceMax -> ReduceMin
 * max_f32 -> min_s8, mg_f32 -> int8_t, float -> int8, Largest -> Smallest, ReduceMax -> ReduceMin
 */
#ifndef MCUGEN_REDUCE_MAX_F32_H
#define MCUGEN_REDUCE_MAX_F32_H

#include "mcugen/runtime.h"

typedef struct {
    const uint32_t *kept, *kept_stride;       /* [3], slowest first, in elements */
    const uint32_t *reduced, *reduced_stride; /* [3] */
} mg_reduce_max_f32_params;

/* Computes whole tensors. The loops over the input have three `kept` and three `reduced` dimensions. */
void mg_reduce_max_f32(const mg_reduce_max_f32_params *p, const mg_f32 *in, mg_f32 *out);

#endif /* MCUGEN_REDUCE_MAX_F32_H */
