/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds int64 slices to an output of zeros, at the places that int32 indices select.
 *
 * sizes, strides  [depth]: of the indexed axes of the output, strides in elements; indices outside are clamped
 * count, run      slices, and elements of one
 * elements        elements of the output
 * Equals the reference runtime's ScatterNd for int64.
 */
/* Copies of this file, one a line, with these words replaced:
 * s64 -> s32, int64 -> int32
 * s64 -> s8, mg_s64 -> int8_t, int64 -> int8
 * s64 -> f32, int64 -> float, the reference runtime's ScatterNd -> ScatterNd.reference
 */
#ifndef MCUGEN_SCATTER_ND_S64_H
#define MCUGEN_SCATTER_ND_S64_H

#include "mcugen/runtime.h"

typedef struct {
    const int32_t *sizes;
    const uint32_t *strides;
    uint32_t depth, count, run, elements;
} mg_scatter_nd_s64_params;

/* Computes whole tensors. index: [count][depth], updates: [count][run]. */
void mg_scatter_nd_s64(const mg_scatter_nd_s64_params *p, const mg_s32 *index, const mg_s64 *updates, mg_s64 *out);

#endif /* MCUGEN_SCATTER_ND_S64_H */
