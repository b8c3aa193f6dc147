/* SPDX-License-Identifier: Apache-2.0
 *
 * GRU layer over float sequences, one step after the other.
 *
 *   z, r = gate(W x + b + R h + a)
 *   n = cell(W x + b + R (r * h) + a), or, with `after`, cell(W x + b + r * (R h + a))
 *   h = (1 - z) * n + z * h
 *
 * w, r, b, a  weights of the data [3, hidden, inputs] and of the state [3, hidden, hidden], and the biases of each
 *             [3, hidden]; gates in the order z, r, n
 * kinds       activations of the gates and of n;   clip: bound of the magnitude of their sums; 0: no bound
 * Equals Gru.reference within rounding.
 */
#ifndef MCUGEN_GRU_F32_H
#define MCUGEN_GRU_F32_H

#include "mcugen/recurrent_f32.h"

typedef struct {
    uint32_t steps, batches, inputs, hidden;
    uint32_t kinds[2];
    uint32_t after;
    float clip;
} mg_gru_f32_params;

/* x [steps, batches, inputs]; h0 [batches, hidden] -> y [steps, batches, hidden]; h: the last state; scratch: 3 *
 * hidden floats. */
void mg_gru_f32(const mg_gru_f32_params *p, const mg_f32 *x, const mg_f32 *w, const mg_f32 *r, const mg_f32 *b,
                const mg_f32 *a, const mg_f32 *h0, mg_f32 *y, mg_f32 *h, void *scratch);

#endif /* MCUGEN_GRU_F32_H */
