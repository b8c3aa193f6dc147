/* SPDX-License-Identifier: Apache-2.0
 *
 * A copy of a tensor in which a part is replaced, at a place found at run time and moved so that it lies inside.
 *
 * shape, size: of the tensor and of the part, with `leading` axes of length 1 in front;   item: bytes of an element
 * Equals DynamicUpdateSlice.reference_q.
 */
#ifndef MCUGEN_DYNAMIC_UPDATE_SLICE_H
#define MCUGEN_DYNAMIC_UPDATE_SLICE_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t bytes, item, leading;
    uint32_t shape[6];
    uint32_t size[6];
} mg_dynamic_update_slice_params;

void mg_dynamic_update_slice(const mg_dynamic_update_slice_params *p, const void *x, const void *part, const mg_s32 *start,
                             void *y);

#endif /* MCUGEN_DYNAMIC_UPDATE_SLICE_H */
