/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the recurrent layers on float data: activations of gates, and their bounds.
 */
#ifndef MCUGEN_RECURRENT_F32_H
#define MCUGEN_RECURRENT_F32_H

#include "mcugen/curves.h"

#define MG_SIGMOID 0u
#define MG_TANH 1u
#define MG_RELU 2u

/* Fields of LSTM layers:
 *   p        peephole weights [3, hidden] of i, o, f, or NULL
 *   kinds    activations of the gates, of g, and of the cell
 *   clip     bound of the magnitude of the gates' sums;   cell_clip: of c; 0: no bound
 *   coupled  1: i is 1 - f; 2: f is 1 - i; 0: neither
 */
#define MG_LSTM_FIELDS \
    const mg_f32 *p; \
    uint32_t steps, batches, inputs, hidden; \
    uint32_t kinds[3]; \
    uint32_t coupled; \
    float clip, cell_clip;

/* x clamped to [-limit, limit]; not clamped if the limit is 0 */
static inline float mg_within(float x, float limit)
{
    if (limit <= 0.0f) {
        return x;
    }
    const float low = x < -limit ? -limit : x;
    return low > limit ? limit : low;
}

/* Replaces n numbers by their activations: MG_SIGMOID, MG_TANH, else ReLU. clip: bound of their magnitude before; 0: no
 * bound */
static inline void mg_activate(uint32_t kind, float clip, mg_f32 *x, uint32_t n)
{
    const uint32_t bounded = clip > 0.0f ? n : 0u;
    for (uint32_t k = 0u; k < bounded; k += 1u) {
        x[k] = mg_within(x[k], clip);
    }
    if (kind == MG_SIGMOID) {
        for (uint32_t k = 0u; k < n; k += 1u) {
            x[k] = 1.0f / (1.0f + mg_exp(-x[k]));
        }
    } else if (kind == MG_TANH) {
        for (uint32_t k = 0u; k < n; k += 1u) {
            x[k] = mg_tanh(x[k]);
        }
    } else {
        for (uint32_t k = 0u; k < n; k += 1u) {
            x[k] = x[k] < 0.0f ? 0.0f : x[k];
        }
    }
}

#endif /* MCUGEN_RECURRENT_F32_H */
