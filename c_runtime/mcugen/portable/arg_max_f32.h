/* SPDX-License-Identifier: Apache-2.0
 *
 * The first index of the largest or smallest element along an axis of float data.
 *
 * outer, size, inner  elements of the axes before the axis, of the axis, of the axes behind it
 * smallest            0: the largest value; 1: the smallest
 * wide                0: out is int32; 1: int64
 * Equals the reference runtime's ArgMax for float.
 */
/* Copies of this file, one a line, with these words replaced:
 * f32 -> s32, float -> int32
 * f32 -> s8, mg_f32 -> void, float data -> int8 data or truth values, float -> int8
 */
#ifndef MCUGEN_ARG_MAX_F32_H
#define MCUGEN_ARG_MAX_F32_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t outer, size, inner;
    uint8_t smallest, wide;
} mg_arg_max_f32_params;

/* Computes whole tensors. */
void mg_arg_max_f32(const mg_arg_max_f32_params *p, const mg_f32 *in, void *out);

#endif /* MCUGEN_ARG_MAX_F32_H */
