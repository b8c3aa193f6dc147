/* SPDX-License-Identifier: Apache-2.0
 *
 * The k largest or smallest elements along an axis of integers of any type, and of bools, in order, and their
 * positions. Of equal elements, the first comes first.
 */
#ifndef MCUGEN_TOP_K_INTEGERS_H
#define MCUGEN_TOP_K_INTEGERS_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t kind;
    uint32_t outer, size, inner, k, wide, smallest;
} mg_top_k_integers_params;

/* Computes whole tensors, [outer, size, inner] to [outer, k, inner]. positions: int64 if `wide` is set, else int32. */
void mg_top_k_integers(const mg_top_k_integers_params *p, const void *in, void *out, void *positions);

#endif /* MCUGEN_TOP_K_INTEGERS_H */
