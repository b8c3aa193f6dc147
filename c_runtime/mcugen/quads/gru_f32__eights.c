/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/gru_f32__eights.h"
#include "mcugen/quads_f32.h"

/* Computes one step of one element of the batch and updates h. room: 5 * `hidden` + `inputs` floats. */
static void step(const mg_gru_f32__eights_params *p, const mg_f32 *x, mg_f32 *h, mg_f32 *room)
{
    const uint32_t inputs = p->inputs, n = p->hidden;
    const mg_quads_f32_params of_gates = {.weights = p->gates, .taps = inputs + n, .outputs = 2u * n};
    const mg_quads_f32_params of_data = {.weights = p->data, .taps = inputs, .outputs = n};
    const mg_quads_f32_params of_state = {.weights = p->state, .taps = n, .outputs = n};
    mg_f32 *const z = room, *const reset = z + n, *const data = reset + n, *const state = data + n;
    mg_f32 *const taps = state + n, *const old = taps + inputs;
    memcpy(taps, x, inputs * sizeof(*taps));
    memcpy(old, h, n * sizeof(*old));
    mg_fully_connected_f32__eights(&of_gates, taps, z, 1u);
    mg_activate(p->kinds[0], p->clip, z, 2u * n);
    const uint32_t before = p->after != 0u ? 0u : n;
    for (uint32_t k = 0u; k < before; k += 1u) {
        old[k] = reset[k] * h[k];
    }
    mg_fully_connected_f32__eights(&of_data, x, data, 1u);
    mg_fully_connected_f32__eights(&of_state, old, state, 1u);
    for (uint32_t k = 0u; k < n; k += 1u) {
        data[k] += p->after != 0u ? reset[k] * state[k] : state[k];
    }
    mg_activate(p->kinds[1], p->clip, data, n);
    for (uint32_t k = 0u; k < n; k += 1u) {
        h[k] = (1.0f - z[k]) * data[k] + z[k] * h[k];
    }
}

void mg_gru_f32__eights(const mg_gru_f32__eights_params *p, const mg_f32 *x, const mg_f32 *h0, mg_f32 *y, mg_f32 *h,
                        void *scratch)
{
    const uint32_t state = p->batches * p->hidden;
    memcpy(h, h0, state * sizeof(*h));
    for (uint32_t t = 0u; t < p->steps; t += 1u) {
        for (uint32_t n = 0u; n < p->batches; n += 1u) {
            step(p, x + (t * p->batches + n) * p->inputs, h + n * p->hidden, scratch);
        }
        memcpy(y + t * state, h, state * sizeof(*h));
    }
}
