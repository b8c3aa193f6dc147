/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: one step of an LSTM layer, from the sums of its gates. The including file defines MG_PARAMS, a struct with
 * MG_LSTM_FIELDS.
 */

static inline float mg_lstm_peephole(const MG_PARAMS *p, uint32_t gate, uint32_t k, float cell)
{
    return p->p == NULL ? 0.0f : p->p[gate * p->hidden + k] * cell;
}

/* Computes one step of one element of the batch and updates h and c. */
static inline void mg_lstm_step(const MG_PARAMS *p, const mg_f32 *gates, mg_f32 *h, mg_f32 *c)
{
    const uint32_t n = p->hidden;
    for (uint32_t k = 0u; k < n; k += 1u) {
        const float kept =
            mg_activated(p->kinds[0], mg_within(gates[2u * n + k] + mg_lstm_peephole(p, 2u, k, c[k]), p->clip));
        const float own = mg_activated(p->kinds[0], mg_within(gates[k] + mg_lstm_peephole(p, 0u, k, c[k]), p->clip));
        const float forget = p->coupled == 2u ? 1.0f - own : kept;
        const float in = p->coupled == 1u ? 1.0f - kept : own;
        const float new_cell = mg_activated(p->kinds[1], mg_within(gates[3u * n + k], p->clip));
        c[k] = mg_within(forget * c[k] + in * new_cell, p->cell_clip);
        const float out = mg_activated(p->kinds[0], mg_within(gates[n + k] + mg_lstm_peephole(p, 1u, k, c[k]), p->clip));
        h[k] = out * mg_activated(p->kinds[2], c[k]);
    }
}
