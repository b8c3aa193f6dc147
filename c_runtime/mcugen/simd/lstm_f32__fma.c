/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/simd_lstm_f32.h"
#include "mcugen/simd_activate.h"

#define MG_PARAMS mg_simd_lstm_f32_params
#define MG_ACTIVATE mg_simd_activate
#include "mcugen/lstm_step_f32.h"

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
                mg_lstm_step(p, gates, h + (size_t)n * p->hidden, c + (size_t)n * p->hidden);
            }
            (void)memcpy(y + (t + k) * state, h, state * sizeof(*h));
        }
    }
}
