/* SPDX-License-Identifier: Apache-2.0
 *
 * The k largest or smallest elements along an axis of float32 data, in order, and their positions. Of equal elements,
 * the first comes first.
 */
#ifndef MCUGEN_TOP_K_F32_H
#define MCUGEN_TOP_K_F32_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t smallest;
    uint32_t outer, size, inner, k, wide;
} mg_top_k_f32_params;

/* Computes whole tensors, [outer, size, inner] to [outer, k, inner]. positions: int64 if `wide` is set, else int32. */
void mg_top_k_f32(const mg_top_k_f32_params *p, const mg_f32 *in, mg_f32 *out, void *positions);

#endif /* MCUGEN_TOP_K_F32_H */
