/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/lstm_f32.h"
#include "mcugen/dots_f32.h"

#define MG_PARAMS mg_lstm_f32_params
#define MG_ACTIVATE mg_activate
#include "mcugen/lstm_step_f32.h"

typedef struct {
    const mg_f32 *w, *r, *b;
} mg_lstm_f32_weights;

/* Computes the sums of all gates for one element of the batch, before their activations and without the peepholes. */
static void sums(const mg_lstm_f32_params *p, const mg_lstm_f32_weights *by, const mg_f32 *x, const mg_f32 *h, mg_f32 *gates)
{
    const uint32_t rows = 4u * p->hidden;
    memcpy(gates, by->b, rows * sizeof(*gates));
    mg_dots_f32(by->w, x, p->inputs, rows, gates);
    mg_dots_f32(by->r, h, p->hidden, rows, gates);
}

void mg_lstm_f32(const mg_lstm_f32_params *p, const mg_f32 *x, const mg_f32 *w, const mg_f32 *r, const mg_f32 *b,
                 const mg_f32 *h0, const mg_f32 *c0, mg_f32 *y, mg_f32 *h, mg_f32 *c, void *scratch)
{
    const mg_lstm_f32_weights by = {w, r, b};
    mg_f32 *const gates = scratch;
    const uint32_t state = p->batches * p->hidden;
    memcpy(h, h0, state * sizeof(*h));
    memcpy(c, c0, state * sizeof(*c));
    for (uint32_t t = 0u; t < p->steps; t += 1u) {
        for (uint32_t n = 0u; n < p->batches; n += 1u) {
            sums(p, &by, x + (t * p->batches + n) * p->inputs, h + n * p->hidden, gates);
            mg_lstm_step(p, gates, h + n * p->hidden, c + n * p->hidden);
        }
        memcpy(y + t * state, h, state * sizeof(*h));
    }
}
