/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/lstm_f32.h"

typedef struct {
    const mg_f32 *w, *r, *b;
} weights;

/* The sums of all gates for one element of the batch, before their activations; o's share of the new cell is missing. */
static void sums(const mg_lstm_f32_params *p, const weights *by, const mg_f32 *x, const mg_f32 *h, mg_f32 *gates)
{
    for (uint32_t g = 0u; g < 4u * p->hidden; g += 1u) {
        const float data = mg_dot_f32(by->w + g * p->inputs, x, p->inputs, by->b[g]);
        gates[g] = mg_dot_f32(by->r + g * p->hidden, h, p->hidden, data);
    }
}

static float peephole(const mg_lstm_f32_params *p, uint32_t gate, uint32_t k, float cell)
{
    return p->p == NULL ? 0.0f : p->p[gate * p->hidden + k] * cell;
}

/* One step of one element of the batch: h and c become the new ones. */
static void step(const mg_lstm_f32_params *p, const mg_f32 *gates, mg_f32 *h, mg_f32 *c)
{
    const uint32_t n = p->hidden;
    for (uint32_t k = 0u; k < n; k += 1u) {
        const float forget =
            mg_activated(p->kinds[0], mg_within(gates[2u * n + k] + peephole(p, 2u, k, c[k]), p->clip));
        const float own = mg_activated(p->kinds[0], mg_within(gates[k] + peephole(p, 0u, k, c[k]), p->clip));
        const float in = p->coupled != 0u ? 1.0f - forget : own;
        const float new_cell = mg_activated(p->kinds[1], mg_within(gates[3u * n + k], p->clip));
        c[k] = mg_within(forget * c[k] + in * new_cell, p->cell_clip);
        const float out = mg_activated(p->kinds[0], mg_within(gates[n + k] + peephole(p, 1u, k, c[k]), p->clip));
        h[k] = out * mg_activated(p->kinds[2], c[k]);
    }
}

void mg_lstm_f32(const mg_lstm_f32_params *p, const mg_f32 *x, const mg_f32 *w, const mg_f32 *r, const mg_f32 *b,
                 const mg_f32 *h0, const mg_f32 *c0, mg_f32 *y, mg_f32 *h, mg_f32 *c, void *scratch)
{
    const weights by = {w, r, b};
    mg_f32 *const gates = scratch;
    const uint32_t state = p->batches * p->hidden;
    memcpy(h, h0, state * sizeof(*h));
    memcpy(c, c0, state * sizeof(*c));
    for (uint32_t t = 0u; t < p->steps; t += 1u) {
        for (uint32_t n = 0u; n < p->batches; n += 1u) {
            sums(p, &by, x + (t * p->batches + n) * p->inputs, h + n * p->hidden, gates);
            step(p, gates, h + n * p->hidden, c + n * p->hidden);
        }
        memcpy(y + t * state, h, state * sizeof(*h));
    }
}
