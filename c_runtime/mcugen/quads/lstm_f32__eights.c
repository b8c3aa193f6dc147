/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/lstm_f32__eights.h"
#include "mcugen/quads_f32.h"

#define MG_PARAMS mg_lstm_f32__eights_params
#define MG_ACTIVATE mg_activate
#include "mcugen/lstm_step_f32.h"

void mg_lstm_f32__eights(const mg_lstm_f32__eights_params *p, const mg_f32 *x, const mg_f32 *h0, const mg_f32 *c0, mg_f32 *y,
                         mg_f32 *h, mg_f32 *c, void *scratch)
{
    const uint32_t inputs = p->inputs, hidden = p->hidden, state = p->batches * hidden;
    const mg_quads_f32_params rows = {.weights = p->weights, .taps = inputs + hidden, .outputs = 4u * hidden};
    mg_f32 *const gates = scratch;
    mg_f32 *const taps = gates + 4u * hidden;
    memcpy(h, h0, state * sizeof(*h));
    memcpy(c, c0, state * sizeof(*c));
    for (uint32_t t = 0u; t < p->steps; t += 1u) {
        for (uint32_t n = 0u; n < p->batches; n += 1u) {
            memcpy(taps, x + (t * p->batches + n) * inputs, inputs * sizeof(*taps));
            memcpy(taps + inputs, h + n * hidden, hidden * sizeof(*taps));
            mg_fully_connected_f32__eights(&rows, taps, gates, 1u);
            mg_lstm_step(p, gates, h + n * hidden, c + n * hidden);
        }
        memcpy(y + t * state, h, state * sizeof(*h));
    }
}
