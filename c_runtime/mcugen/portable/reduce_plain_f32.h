/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums, products and extremes over axes of float32 data, one element after the other; see mcugen/fold.h.
 */
#ifndef MCUGEN_REDUCE_PLAIN_F32_H
#define MCUGEN_REDUCE_PLAIN_F32_H

#include "mcugen/fold.h"

typedef struct {
    uint32_t how;
    const uint32_t *kept, *kept_stride;       /* [3], slowest first, in elements */
    const uint32_t *reduced, *reduced_stride; /* [3] */
} mg_reduce_plain_f32_params;

/* Computes whole tensors. */
void mg_reduce_plain_f32(const mg_reduce_plain_f32_params *p, const mg_f32 *in, mg_f32 *out);

#endif /* MCUGEN_REDUCE_PLAIN_F32_H */
