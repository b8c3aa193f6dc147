/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums, products and extremes over axes of integers of any type, and of bools, one element after the other; see
 * mcugen/fold.h.
 */
#ifndef MCUGEN_REDUCE_PLAIN_INTEGERS_H
#define MCUGEN_REDUCE_PLAIN_INTEGERS_H

#include "mcugen/fold.h"

typedef struct {
    uint32_t how, kind;
    const uint32_t *kept, *kept_stride;       /* [3], slowest first, in elements */
    const uint32_t *reduced, *reduced_stride; /* [3] */
} mg_reduce_plain_integers_params;

/* Computes whole tensors. */
void mg_reduce_plain_integers(const mg_reduce_plain_integers_params *p, const void *in, void *out);

#endif /* MCUGEN_REDUCE_PLAIN_INTEGERS_H */
