/* SPDX-License-Identifier: Apache-2.0
 *
 * Reverses the first length[b] steps of each sequence and copies the rest; int32 lengths.
 *
 * outer, between  elements of the axes before the sequence and batch axes, and of the axes between them
 * *_stride        in bytes
 * run             bytes of the elements behind both axes
 * Equals the reference runtime's ReverseSequence for data of any type; lengths outside the axis are clamped to it.
 */
/* Copies of this file, one a line, with these words replaced:
 * s32 -> s64, int32 -> int64
 */
#ifndef MCUGEN_REVERSE_SEQUENCE_S32_H
#define MCUGEN_REVERSE_SEQUENCE_S32_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t outer, outer_stride;
    uint32_t between, between_stride;
    uint32_t batches, batch_stride;
    uint32_t steps, step_stride;
    uint32_t run;
} mg_reverse_sequence_s32_params;

/* Computes whole tensors. */
void mg_reverse_sequence_s32(const mg_reverse_sequence_s32_params *p, const void *in, const mg_s32 *length, void *out);

#endif /* MCUGEN_REVERSE_SEQUENCE_S32_H */
