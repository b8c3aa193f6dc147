/* SPDX-License-Identifier: Apache-2.0
 *
 * The first index along an axis where int8 data, or truth values, are largest, or smallest.
 *
 * outer, size, inner  the axes before it, the axis, the axes behind it
 * smallest            0: the largest value; 1: the smallest
 * wide                0: out is int32; 1: int64
 * Equals the reference runtime's ArgMax for int8.
 */
#ifndef MCUGEN_ARG_MAX_S8_H
#define MCUGEN_ARG_MAX_S8_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t outer, size, inner;
    uint8_t smallest, wide;
} mg_arg_max_s8_params;

/* Whole tensors. */
void mg_arg_max_s8(const mg_arg_max_s8_params *p, const void *in, void *out);

#endif /* MCUGEN_ARG_MAX_S8_H */
