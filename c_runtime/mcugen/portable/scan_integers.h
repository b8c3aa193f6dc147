/* SPDX-License-Identifier: Apache-2.0
 *
 * Running sums, products and extremes along an axis of integers of any type, and of bools; see mcugen/fold.h.
 *
 * exclusive  1: a result leaves out its own element, and the first result is `first`
 * reverse    1: from the last element to the first
 */
#ifndef MCUGEN_SCAN_INTEGERS_H
#define MCUGEN_SCAN_INTEGERS_H

#include "mcugen/fold.h"

typedef struct {
    uint32_t how, kind;
    uint32_t outer, size, inner, exclusive, reverse;
    int64_t first;
} mg_scan_integers_params;

/* Computes whole tensors, [outer, size, inner]. */
void mg_scan_integers(const mg_scan_integers_params *p, const void *in, void *out);

#endif /* MCUGEN_SCAN_INTEGERS_H */
