/* SPDX-License-Identifier: Apache-2.0
 *
 * Largest value over axes of int16 data.
 *
 * Equals ReduceMax.reference for int16.
 */
/* Copies:
 * s16 -> s8, int16 -> int8, mg_s16 -> int8_t
 */
#ifndef MCUGEN_REDUCE_MAX_S16_H
#define MCUGEN_REDUCE_MAX_S16_H

#include "mcugen/runtime.h"

typedef struct {
    const uint32_t *kept, *kept_stride;       /* [3], slowest first, in elements */
    const uint32_t *reduced, *reduced_stride; /* [3] */
} mg_reduce_max_s16_params;

/* Whole tensors; the input is walked by its `kept` and `reduced` dimensions, three of each. */
void mg_reduce_max_s16(const mg_reduce_max_s16_params *p, const mg_s16 *in, mg_s16 *out);

#endif /* MCUGEN_REDUCE_MAX_S16_H */
