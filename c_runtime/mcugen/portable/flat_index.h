/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts index tuples [count, depth] to slice numbers: sum over d of index[d] * strides[d], plus `batch` (the slices
 * of a batch element) times the number of the batch element.
 * Negative indices count from the end; indices outside an axis are moved to its nearest end.
 */
#ifndef MCUGEN_FLAT_INDEX_H
#define MCUGEN_FLAT_INDEX_H

#include "mcugen/runtime.h"

typedef struct {
    const int32_t *sizes, *strides; /* [depth] */
    uint32_t depth, batches, count;
    int32_t batch;
} mg_flat_index_params;

/* Computes whole tensors, [batches, count, depth] to [batches, count]. */
void mg_flat_index(const mg_flat_index_params *p, const mg_s32 *in, mg_s32 *out);

#endif /* MCUGEN_FLAT_INDEX_H */
