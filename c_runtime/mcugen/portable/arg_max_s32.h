/* SPDX-License-Identifier: Apache-2.0
 *
 * The first index along an axis where int32 data is largest, or smallest.
 *
 * outer, size, inner  the axes before it, the axis, the axes behind it
 * smallest            0: the largest value; 1: the smallest
 * wide                0: out is int32; 1: int64
 * Equals the reference runtime's ArgMax for int32.
 */
#ifndef MCUGEN_ARG_MAX_S32_H
#define MCUGEN_ARG_MAX_S32_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t outer, size, inner;
    uint8_t smallest, wide;
} mg_arg_max_s32_params;

/* Whole tensors. */
void mg_arg_max_s32(const mg_arg_max_s32_params *p, const mg_s32 *in, void *out);

#endif /* MCUGEN_ARG_MAX_S32_H */
