/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies a strided view of a tensor: transposition, slices, repetition.
 *
 * Equals the reference runtime's Transpose, StridedSlice, Reverse, BroadcastTo, Tile, SpaceToDepth and DepthToSpace for any type.
 */
#ifndef MCUGEN_VIEW_H
#define MCUGEN_VIEW_H

#include "mcugen/runtime.h"

typedef struct {
    const uint32_t *dims;                  /* [6], outermost first */
    const int32_t *in_stride, *out_stride; /* [6], in bytes */
    uint32_t size;                         /* bytes of an element: 1, 2, 4 or 8 */
    uint32_t offset;                       /* bytes from the start of the input to the first element */
} mg_view_params;

/* Computes whole tensors. */
void mg_view(const mg_view_params *p, const void *in, void *out);
/* Computes output row y of bytes. rows[0]: the input row that contains it; offset: bytes from the start of that row. */
void mg_view__rows(const mg_view_params *p, const uint8_t *const *rows, uint32_t y, uint8_t *out);

#endif /* MCUGEN_VIEW_H */
