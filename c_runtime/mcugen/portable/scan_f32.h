/* SPDX-License-Identifier: Apache-2.0
 *
 * Running sums, products and extremes along an axis of float32 data; see mcugen/fold.h.
 *
 * exclusive  1: a result leaves out its own element, and the first result is `first`
 * reverse    1: from the last element to the first
 */
#ifndef MCUGEN_SCAN_F32_H
#define MCUGEN_SCAN_F32_H

#include "mcugen/fold.h"

typedef struct {
    uint32_t how;
    uint32_t outer, size, inner, exclusive, reverse;
    float first;
} mg_scan_f32_params;

/* Computes whole tensors, [outer, size, inner]. */
void mg_scan_f32(const mg_scan_f32_params *p, const mg_f32 *in, mg_f32 *out);

#endif /* MCUGEN_SCAN_F32_H */
