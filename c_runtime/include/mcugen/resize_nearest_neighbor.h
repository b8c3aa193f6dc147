/* SPDX-License-Identifier: Apache-2.0
 *
 * Images of another size: every pixel is a copy of one input pixel.
 *
 * from_row, from_column  the input row and column of each output one
 * pixel                  bytes of a pixel
 * Equals ResizeNearestNeighbor.reference_q for any type.
 */
#ifndef MCUGEN_RESIZE_NEAREST_NEIGHBOR_H
#define MCUGEN_RESIZE_NEAREST_NEIGHBOR_H

#include "mcugen/runtime.h"

typedef struct {
    const uint32_t *from_row, *from_column;
    uint32_t images;
    uint32_t in_h, in_w;
    uint32_t out_h, out_w;
    uint32_t pixel;
} mg_resize_nearest_neighbor_params;

/* Whole tensors. */
void mg_resize_nearest_neighbor(const mg_resize_nearest_neighbor_params *p, const void *in, void *out);

#endif /* MCUGEN_RESIZE_NEAREST_NEIGHBOR_H */
