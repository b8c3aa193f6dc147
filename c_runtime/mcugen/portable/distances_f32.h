/* SPDX-License-Identifier: Apache-2.0
 *
 * Distances of float vectors from constant rows.
 *
 * rows    [count][length]
 * count   results for each vector
 * length  elements of a vector
 */
#ifndef MCUGEN_DISTANCES_F32_H
#define MCUGEN_DISTANCES_F32_H

#include "mcugen/variant.h"

typedef struct {
    const float *rows;
    uint32_t count, length;
} mg_distances_f32_params;

/* Computes n vectors: in [n][length], out [n][count]. */
#define MG_DECLARE_distances_f32(f) MG_LINKAGE void f(const mg_distances_f32_params *p, const mg_f32 *in, mg_f32 *out, uint32_t n)

#endif /* MCUGEN_DISTANCES_F32_H */
