/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies a tensor and replaces a part of it. The start of the part is an operand; it is moved so that the part lies
 * inside the tensor.
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
