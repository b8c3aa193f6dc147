/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/simd_lstm_f32.h"
#include "mcugen/simd_activate.h"

#define MG_PARAMS mg_simd_lstm_f32_params
#include "mcugen/lstm_step_f32.h"

/* mg_lstm_step with activations in vectors. */
static void mg_simd_lstm_step(const mg_simd_lstm_f32_params *p, mg_f32 *gates, mg_f32 *h, mg_f32 *c)
{
    const uint32_t n = p->hidden;
    mg_f32 *const in = gates, *const out = in + n, *const kept = out + n, *const cell = kept + n;
    mg_lstm_peephole(p, 0u, c, gates);
    mg_lstm_peephole(p, 2u, c, gates);
    mg_simd_activate(p->kinds[0], p->clip, in, n);
    mg_simd_activate(p->kinds[0], p->clip, kept, n);
    mg_simd_activate(p->kinds[1], p->clip, cell, n);
    for (uint32_t k = 0u; k < n; k += 1u) {
        const float forget = p->coupled == 2u ? 1.0f - in[k] : kept[k];
        const float enter = p->coupled == 1u ? 1.0f - kept[k] : in[k];
        c[k] = mg_within(forget * c[k] + enter * cell[k], p->cell_clip);
    }
    (void)memcpy(h, c, n * sizeof(*h));
    mg_lstm_peephole(p, 1u, c, gates);
    mg_simd_activate(p->kinds[0], p->clip, out, n);
    mg_simd_activate(p->kinds[2], 0.0f, h, n);
    for (uint32_t k = 0u; k < n; k += 1u) {
        h[k] *= out[k];
    }
}

void mg_lstm_f32__fma(const mg_simd_lstm_f32_params *p, const mg_f32 *x, const mg_f32 *h0, const mg_f32 *c0, mg_f32 *y,
                      mg_f32 *h, mg_f32 *c, void *scratch)
{
    mg_f32 *const sums = scratch;
    const size_t state = (size_t)p->batches * p->hidden, row = (size_t)p->batches * p->data.out_c;
    (void)memcpy(h, h0, state * sizeof(*h));
    (void)memcpy(c, c0, state * sizeof(*c));
    for (uint32_t t = 0u; t < p->steps; t += p->block) {
        const uint32_t steps = p->steps - t < p->block ? p->steps - t : p->block;
        const mg_f32 *const data[1] = {x + (size_t)t * p->batches * p->inputs};
        mg_simd_dense_f32(&p->data, data, steps * p->batches, p->data.bias, 0u, sums);
        for (uint32_t k = 0u; k < steps; k += 1u) {
            for (uint32_t n = 0u; n < p->batches; n += 1u) {
                mg_f32 *const gates = sums + k * row + (size_t)n * p->data.out_c;
                const mg_f32 *const old[1] = {h + (size_t)n * p->hidden};
                mg_simd_dense_f32(&p->state, old, 1u, gates, 0u, gates);
                mg_simd_lstm_step(p, gates, h + (size_t)n * p->hidden, c + (size_t)n * p->hidden);
            }
            (void)memcpy(y + (t + k) * state, h, state * sizeof(*h));
        }
    }
}
