/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/hybrid_rnn.h"
#include "mcugen/hybrid_sums.h"

void mg_hybrid_rnn(const mg_hybrid_rnn_params *p, const int8_t *q, const mg_f32 *s, const int8_t *z, const mg_f32 *h0,
                   mg_f32 *y, mg_f32 *h, void *scratch)
{
    int8_t *const kept = scratch;
    const mg_byte_matrix of_data = {p->w, p->w_sums, &p->w_scale}, of_state = {p->r, p->r_sums, &p->r_scale};
    const mg_f32 *old = h0;
    const uint32_t state = p->batches * p->hidden;
    for (uint32_t t = 0u; t < p->steps; t += 1u) {
        mg_f32 *const now = y + t * state;
        for (uint32_t n = 0u; n < p->batches; n += 1u) {
            const uint32_t at = t * p->batches + n;
            const mg_byte_vector data = {q + at * p->inputs, s[at], z[at], p->inputs};
            mg_f32 *const sums = now + n * p->hidden;
            mg_f32 scale;
            int8_t zero;
            mg_quantize_range(old + n * p->hidden, p->hidden, p->symmetric, kept, &scale, &zero);
            const mg_byte_vector before = {kept, scale, zero, p->hidden};
            memcpy(sums, p->b, p->hidden * sizeof(*sums));
            mg_add_products(sums, p->hidden, 0u, &of_data, &data);
            mg_add_products(sums, p->hidden, 0u, &of_state, &before);
            mg_activate(p->kind, 0.0f, sums, p->hidden);
        }
        old = now;
    }
    memcpy(h, old, state * sizeof(*h));
}
