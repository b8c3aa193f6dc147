/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/gru_f32.h"

typedef struct {
    const mg_f32 *w, *r, *b, *a;
} mg_gru_f32_weights;

/* Computes one element of gate z or r. g: its row of the weights: k for element k of z, hidden + k for element k of r.
 */
static float gate(const mg_gru_f32_params *p, const mg_gru_f32_weights *by, uint32_t g, const mg_f32 *x, const mg_f32 *h)
{
    const float data = mg_dot_f32(by->w + g * p->inputs, x, p->inputs, by->b[g]);
    const float sum = mg_dot_f32(by->r + g * p->hidden, h, p->hidden, data + by->a[g]);
    return mg_activated(p->kinds[0], mg_within(sum, p->clip));
}

/* Computes one step of one element of the batch and updates h. room: 3 * `hidden` floats. */
static void step(const mg_gru_f32_params *p, const mg_gru_f32_weights *by, const mg_f32 *x, mg_f32 *h, mg_f32 *room)
{
    const uint32_t n = p->hidden;
    mg_f32 *const z = room;
    mg_f32 *const reset = room + n;
    mg_f32 *const old = reset + n;
    for (uint32_t k = 0u; k < n; k += 1u) {
        z[k] = gate(p, by, k, x, h);
        reset[k] = gate(p, by, n + k, x, h);
    }
    for (uint32_t k = 0u; k < n; k += 1u) {
        old[k] = p->after != 0u ? h[k] : reset[k] * h[k];
    }
    for (uint32_t k = 0u; k < n; k += 1u) {
        const uint32_t g = 2u * n + k;
        const float data = mg_dot_f32(by->w + g * p->inputs, x, p->inputs, by->b[g]);
        const float state = mg_dot_f32(by->r + g * n, old, n, by->a[g]);
        const float sum = p->after != 0u ? data + reset[k] * state : data + state;
        h[k] = (1.0f - z[k]) * mg_activated(p->kinds[1], mg_within(sum, p->clip)) + z[k] * h[k];
    }
}

void mg_gru_f32(const mg_gru_f32_params *p, const mg_f32 *x, const mg_f32 *w, const mg_f32 *r, const mg_f32 *b,
                const mg_f32 *a, const mg_f32 *h0, mg_f32 *y, mg_f32 *h, void *scratch)
{
    const mg_gru_f32_weights by = {w, r, b, a};
    const uint32_t state = p->batches * p->hidden;
    memcpy(h, h0, state * sizeof(*h));
    for (uint32_t t = 0u; t < p->steps; t += 1u) {
        for (uint32_t n = 0u; n < p->batches; n += 1u) {
            step(p, &by, x + (t * p->batches + n) * p->inputs, h + n * p->hidden, scratch);
        }
        memcpy(y + t * state, h, state * sizeof(*h));
    }
}
