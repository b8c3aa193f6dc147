/* SPDX-License-Identifier: Apache-2.0
 *
 * GRU layer over float sequences, one step after the other, with constant weights: eight rows of gates at a time.
 *
 *   z, r = gate(W x + R h + b)
 *   n = cell(W x + b + R (r * h) + a), or, with `after`, cell(W x + b + r * (R h + a))
 *   h = (1 - z) * n + z * h
 *
 * gates        rows of z and r as mg_fully_connected_f32__eights has them: taps of the data, then of the state
 * data, state  rows of n: W with b, R with a
 * kinds        activations of the gates and of n;   clip: bound of the magnitude of their sums; 0: no bound
 * Equals Gru.reference within rounding.
 */
#ifndef MCUGEN_GRU_F32__EIGHTS_H
#define MCUGEN_GRU_F32__EIGHTS_H

#include "mcugen/recurrent_f32.h"

typedef struct {
    const float *gates, *data, *state;
    uint32_t steps, batches, inputs, hidden;
    uint32_t kinds[2];
    uint32_t after;
    float clip;
} mg_gru_f32__eights_params;

/* x [steps, batches, inputs]; h0 [batches, hidden] -> y [steps, batches, hidden]; h: the last state; scratch:
 * 5 * hidden + inputs floats. */
void mg_gru_f32__eights(const mg_gru_f32__eights_params *p, const mg_f32 *x, const mg_f32 *h0, mg_f32 *y, mg_f32 *h,
                        void *scratch);

#endif /* MCUGEN_GRU_F32__EIGHTS_H */
