/* SPDX-License-Identifier: Apache-2.0
 *
 * Largest value over axes of int8 data.
 *
 * Equals ReduceMax.reference for int8.
 */
#ifndef MCUGEN_REDUCE_MAX_S8_H
#define MCUGEN_REDUCE_MAX_S8_H

#include "mcugen/runtime.h"

typedef struct {
    const uint32_t *kept, *kept_stride;       /* [3], slowest first, in elements */
    const uint32_t *reduced, *reduced_stride; /* [3] */
} mg_reduce_max_s8_params;

/* Whole tensors; the input is walked by its `kept` and `reduced` dimensions, three of each. */
void mg_reduce_max_s8(const mg_reduce_max_s8_params *p, const int8_t *in, int8_t *out);

#endif /* MCUGEN_REDUCE_MAX_S8_H */
