/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts indices along one axis, as in GatherElements, to offsets of elements. On every other axis an element has the
 * same position as its index. Negative indices count from the end; indices outside the axis are moved to its nearest
 * end.
 */
#ifndef MCUGEN_ELEMENT_INDEX_H
#define MCUGEN_ELEMENT_INDEX_H

#include "mcugen/runtime.h"

#define MG_ELEMENT_INDEX_LOOPS 6u

/* dims: sizes of the axes of the indices, outermost first. strides: elements of the tensor from a position on each of
 * these axes to the next; 0 for the indexed axis. size, stride: of the indexed axis. */
typedef struct {
    const uint32_t *dims;
    const int32_t *strides;
    uint32_t elements;
    int32_t size, stride;
} mg_element_index_params;

/* Computes whole tensors. */
void mg_element_index(const mg_element_index_params *p, const mg_s32 *in, mg_s32 *out);

#endif /* MCUGEN_ELEMENT_INDEX_H */
