/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/projected_lstm_f32.h"
#include "mcugen/dots_f32.h"

#include <math.h>

enum { IN, OUT, FORGET, NEW };

typedef struct {
    const mg_f32 *w, *r, *b;
} mg_projected_lstm_f32_weights;

/* Computes the sums of all gates for one element of the batch; without biases if these are added after a norm. */
static void sums(const mg_projected_lstm_f32_params *p, const mg_projected_lstm_f32_weights *by, const mg_f32 *x, const mg_f32 *h,
                 mg_f32 *gates)
{
    const uint32_t rows = 4u * p->hidden;
    for (uint32_t g = 0u; g < rows; g += 1u) {
        gates[g] = p->n == NULL ? by->b[g] : 0.0f;
    }
    mg_dots_f32(by->w, x, p->inputs, rows, gates);
    mg_dots_f32(by->r, h, p->outputs, rows, gates);
}

static void normalize(const mg_f32 *factor, const mg_f32 *bias, uint32_t n, mg_f32 *x)
{
    float mean = 0.0f, variance = 0.0f;
    for (uint32_t k = 0u; k < n; k += 1u) {
        mean += x[k];
    }
    mean /= (float)n;
    for (uint32_t k = 0u; k < n; k += 1u) {
        const float apart = x[k] - mean;
        variance += apart * apart;
    }
    const float scale = 1.0f / sqrtf(variance / (float)n + 1e-8f);
    for (uint32_t k = 0u; k < n; k += 1u) {
        x[k] = (x[k] - mean) * scale * factor[k] + bias[k];
    }
}

/* Converts the sums of a gate to its values. cell: NULL for gate g, which does not depend on the cell. */
static void finish(const mg_projected_lstm_f32_params *p, const mg_f32 *b, uint32_t gate, const mg_f32 *cell,
                   mg_f32 *gates)
{
    const uint32_t n = p->hidden, first = gate * n;
    mg_f32 *const own = gates + first;
    if (p->p != NULL && cell != NULL) {
        for (uint32_t k = 0u; k < n; k += 1u) {
            own[k] += p->p[first + k] * cell[k];
        }
    }
    if (p->n != NULL) {
        normalize(p->n + first, b + first, n, own);
    }
    mg_activate(gate == NEW ? MG_TANH : MG_SIGMOID, 0.0f, own, n);
}

/* Computes one step of one element of the batch from the sums of its gates, and updates h and c. */
static void step(const mg_projected_lstm_f32_params *p, const mg_f32 *b, mg_f32 *gates, mg_f32 *h, mg_f32 *c)
{
    const uint32_t n = p->hidden;
    mg_f32 *const in = gates, *const out = gates + n;
    finish(p, b, FORGET, c, gates);
    finish(p, b, IN, c, gates);
    finish(p, b, NEW, NULL, gates);
    for (uint32_t k = 0u; k < n; k += 1u) {
        const float forget = gates[FORGET * n + k], enter = p->coupled != 0u ? 1.0f - forget : in[k];
        c[k] = mg_within(forget * c[k] + enter * gates[NEW * n + k], p->cell_clip);
    }
    finish(p, b, OUT, c, gates);
    for (uint32_t k = 0u; k < n; k += 1u) {
        out[k] *= mg_tanh(c[k]);
    }
    if (p->j == NULL) {
        memcpy(h, out, n * sizeof(*h));
        return;
    }
    for (uint32_t k = 0u; k < p->outputs; k += 1u) {
        h[k] = p->d == NULL ? 0.0f : p->d[k];
    }
    mg_dots_f32(p->j, out, n, p->outputs, h);
    for (uint32_t k = 0u; k < p->outputs; k += 1u) {
        h[k] = mg_within(h[k], p->state_clip);
    }
}

void mg_projected_lstm_f32(const mg_projected_lstm_f32_params *p, const mg_f32 *x, const mg_f32 *w, const mg_f32 *r,
                           const mg_f32 *b, const mg_f32 *h0, const mg_f32 *c0, mg_f32 *y, mg_f32 *h, mg_f32 *c,
                           void *scratch)
{
    const mg_projected_lstm_f32_weights by = {w, r, b};
    mg_f32 *const gates = scratch;
    const uint32_t state = p->batches * p->outputs;
    memcpy(h, h0, state * sizeof(*h));
    memcpy(c, c0, p->batches * p->hidden * sizeof(*c));
    for (uint32_t t = 0u; t < p->steps; t += 1u) {
        for (uint32_t n = 0u; n < p->batches; n += 1u) {
            sums(p, &by, x + (t * p->batches + n) * p->inputs, h + n * p->outputs, gates);
            step(p, b, gates, h + n * p->outputs, c + n * p->hidden);
        }
        memcpy(y + t * state, h, state * sizeof(*h));
    }
}
