/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/hybrid_lstm.h"
#include "mcugen/hybrid_sums.h"

#define MG_PARAMS mg_hybrid_lstm_params
#define MG_ACTIVATE mg_activate
#include "mcugen/lstm_step_f32.h"

void mg_hybrid_lstm(const mg_hybrid_lstm_params *p, const int8_t *q, const mg_f32 *s, const int8_t *z, const mg_f32 *h0,
                    const mg_f32 *c0, mg_f32 *y, mg_f32 *h, mg_f32 *c, void *scratch)
{
    mg_f32 *const gates = scratch;
    int8_t *const kept = (int8_t *)(gates + 4u * p->hidden);
    const mg_byte_matrix of_data = {p->w, p->w_sums, p->w_scale}, of_state = {p->r, p->r_sums, p->r_scale};
    const uint32_t state = p->batches * p->hidden;
    memcpy(h, h0, state * sizeof(*h));
    memcpy(c, c0, state * sizeof(*c));
    for (uint32_t t = 0u; t < p->steps; t += 1u) {
        for (uint32_t n = 0u; n < p->batches; n += 1u) {
            const uint32_t at = t * p->batches + n;
            const mg_byte_vector data = {q + at * p->inputs, s[at], z[at], p->inputs};
            mg_f32 scale;
            int8_t zero;
            mg_quantize_range(h + n * p->hidden, p->hidden, p->symmetric, kept, &scale, &zero);
            const mg_byte_vector before = {kept, scale, zero, p->hidden};
            memcpy(gates, p->b, 4u * p->hidden * sizeof(*gates));
            for (uint32_t g = 0u; g < 4u; g += 1u) {
                mg_add_products(gates, p->hidden, g, &of_data, &data);
            }
            for (uint32_t g = 0u; g < 4u; g += 1u) {
                mg_add_products(gates, p->hidden, g, &of_state, &before);
            }
            mg_lstm_step(p, gates, h + n * p->hidden, c + n * p->hidden);
        }
        memcpy(y + t * state, h, state * sizeof(*h));
    }
}
