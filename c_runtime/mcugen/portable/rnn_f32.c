/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/rnn_f32.h"
#include "mcugen/dots_f32.h"

void mg_rnn_f32(const mg_rnn_f32_params *p, const mg_f32 *x, const mg_f32 *w, const mg_f32 *r, const mg_f32 *b,
                const mg_f32 *h0, mg_f32 *y, mg_f32 *h)
{
    const mg_f32 *old = h0;
    const uint32_t state = p->batches * p->hidden;
    for (uint32_t t = 0u; t < p->steps; t += 1u) {
        mg_f32 *const now = y + t * state;
        for (uint32_t n = 0u; n < p->batches; n += 1u) {
            mg_f32 *const sums = now + n * p->hidden;
            memcpy(sums, b, p->hidden * sizeof(*sums));
            mg_dots_f32(w, x + (t * p->batches + n) * p->inputs, p->inputs, p->hidden, sums);
            mg_dots_f32(r, old + n * p->hidden, p->hidden, p->hidden, sums);
            mg_activate(p->kind, p->clip, sums, p->hidden);
        }
        old = now;
    }
    memcpy(h, old, state * sizeof(*h));
}
