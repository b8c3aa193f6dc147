/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/rnn_f32.h"

void mg_rnn_f32(const mg_rnn_f32_params *p, const mg_f32 *x, const mg_f32 *w, const mg_f32 *r, const mg_f32 *b,
                const mg_f32 *h0, mg_f32 *y, mg_f32 *h)
{
    const mg_f32 *old = h0;
    const uint32_t state = p->batches * p->hidden;
    for (uint32_t t = 0u; t < p->steps; t += 1u) {
        mg_f32 *const now = y + t * state;
        for (uint32_t n = 0u; n < p->batches; n += 1u) {
            for (uint32_t k = 0u; k < p->hidden; k += 1u) {
                const mg_f32 *const in = x + (t * p->batches + n) * p->inputs;
                const float data = mg_dot_f32(w + k * p->inputs, in, p->inputs, b[k]);
                const float sum = mg_dot_f32(r + k * p->hidden, old + n * p->hidden, p->hidden, data);
                now[n * p->hidden + k] = mg_activated(p->kind, mg_within(sum, p->clip));
            }
        }
        old = now;
    }
    memcpy(h, old, state * sizeof(*h));
}
