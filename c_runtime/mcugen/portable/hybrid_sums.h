/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of int8 weights with vectors that were quantized at run time, added to sums of floats.
 */
#ifndef MCUGEN_HYBRID_SUMS_H
#define MCUGEN_HYBRID_SUMS_H

#include "mcugen/runtime.h"

/* A vector of n int8 values with its scale and zero point. */
typedef struct {
    const int8_t *q;
    float scale;
    int32_t zero;
    uint32_t n;
} mg_byte_vector;

/* The weights of all gates for a vector [rows][n], the sum of each row, and the scale of each gate. */
typedef struct {
    const int8_t *w;
    const int32_t *sums;
    const float *scale;
} mg_byte_matrix;

/* Adds the products of gate g, with `rows` rows of weights, and a vector to the sums of the gate. */
static inline void mg_add_products(mg_f32 *sums, uint32_t rows, uint32_t g, const mg_byte_matrix *by,
                                   const mg_byte_vector *x)
{
    const float scale = x->scale * by->scale[g];
    for (uint32_t k = g * rows; k < (g + 1u) * rows; k += 1u) {
        const int8_t *const w = by->w + k * x->n;
        int32_t dot = 0;
        for (uint32_t i = 0u; i < x->n; i += 1u) {
            dot += w[i] * x->q[i];
        }
        const float product = (float)(dot - x->zero * by->sums[k]);
        const float scaled = product * scale;
        sums[k] += scaled;
    }
}

#endif /* MCUGEN_HYBRID_SUMS_H */
