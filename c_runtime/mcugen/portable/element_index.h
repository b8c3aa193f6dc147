/* SPDX-License-Identifier: Apache-2.0
 *
 * Offsets of the elements that indices along one axis select, in a tensor whose other indices are those of the index.
 * Negative indices count from the end; those outside the axis are moved to its nearest end.
 */
#ifndef MCUGEN_ELEMENT_INDEX_H
#define MCUGEN_ELEMENT_INDEX_H

#include "mcugen/runtime.h"

#define MG_ELEMENT_INDEX_LOOPS 6u

/* dims, strides: of the indices' axes, and how far each moves in the tensor, outermost first; 0 for the axis itself.
 * size, stride: of the axis. */
typedef struct {
    const uint32_t *dims;
    const int32_t *strides;
    uint32_t elements;
    int32_t size, stride;
} mg_element_index_params;

/* Whole tensors. */
void mg_element_index(const mg_element_index_params *p, const mg_s32 *in, mg_s32 *out);

#endif /* MCUGEN_ELEMENT_INDEX_H */
