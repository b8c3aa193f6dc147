/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies the slices that int32 indices select: batches * outer * count slices of `run` bytes.
 *
 * count   indices of a batch, which all `outer` blocks of the batch use
 * size    size of the indexed axis; indices outside are moved to its nearest end
 * run     bytes of a slice: the elements behind the axis
 * Equals the reference runtime's Gather for data of any type.
 */
/* Copies of this file, one a line, with these words replaced:
 * s32 -> s64, int32 -> int64
 */
#ifndef MCUGEN_GATHER_S32_H
#define MCUGEN_GATHER_S32_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t batches, outer, count, size, run;
} mg_gather_s32_params;

/* Computes whole tensors. */
void mg_gather_s32(const mg_gather_s32_params *p, const void *in, const mg_s32 *index, void *out);

#endif /* MCUGEN_GATHER_S32_H */
