/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/hybrid_lstm.h"

#define MG_PARAMS mg_hybrid_lstm_params
#include "mcugen/lstm_step_f32.h"

/* A vector with its scale and zero point. */
typedef struct {
    const int8_t *q;
    float scale;
    int32_t zero;
} vector;

/* The weights of all gates for a vector of n. */
typedef struct {
    const int8_t *w;
    const int32_t *sums;
    const float *scale;
} matrix;

static int32_t dot(const int8_t *w, const int8_t *x, uint32_t n)
{
    int32_t sum = 0;
    for (uint32_t k = 0u; k < n; k += 1u) {
        sum += w[k] * x[k];
    }
    return sum;
}

/* Adds the products of the weights and a vector of n to the sums of all gates. */
static void add(mg_f32 *gates, uint32_t hidden, const matrix *by, const vector *x, uint32_t n)
{
    for (uint32_t g = 0u; g < 4u; g += 1u) {
        const float scale = x->scale * by->scale[g];
        for (uint32_t k = g * hidden; k < (g + 1u) * hidden; k += 1u) {
            const float product = (float)(dot(by->w + k * n, x->q, n) - x->zero * by->sums[k]);
            const float scaled = product * scale;
            gates[k] += scaled;
        }
    }
}

void mg_hybrid_lstm(const mg_hybrid_lstm_params *p, const int8_t *q, const mg_f32 *s, const int8_t *z, const mg_f32 *h0,
                    const mg_f32 *c0, mg_f32 *y, mg_f32 *h, mg_f32 *c, void *scratch)
{
    mg_f32 *const gates = scratch;
    int8_t *const kept = (int8_t *)(gates + 4u * p->hidden);
    const matrix of_data = {p->w, p->w_sums, p->w_scale}, of_state = {p->r, p->r_sums, p->r_scale};
    const uint32_t state = p->batches * p->hidden;
    memcpy(h, h0, state * sizeof(*h));
    memcpy(c, c0, state * sizeof(*c));
    for (uint32_t t = 0u; t < p->steps; t += 1u) {
        for (uint32_t n = 0u; n < p->batches; n += 1u) {
            const uint32_t at = t * p->batches + n;
            const vector data = {q + at * p->inputs, s[at], z[at]};
            mg_f32 scale;
            int8_t zero;
            mg_quantize_range(h + n * p->hidden, p->hidden, p->symmetric, kept, &scale, &zero);
            const vector before = {kept, scale, zero};
            memcpy(gates, p->b, 4u * p->hidden * sizeof(*gates));
            add(gates, p->hidden, &of_data, &data, p->inputs);
            add(gates, p->hidden, &of_state, &before, p->hidden);
            mg_lstm_step(p, gates, h + n * p->hidden, c + n * p->hidden);
        }
        memcpy(y + t * state, h, state * sizeof(*h));
    }
}
