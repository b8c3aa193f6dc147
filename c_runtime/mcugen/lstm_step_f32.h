/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: one step of an LSTM layer, from the sums of its gates. The including file defines MG_PARAMS, a struct with
 * MG_LSTM_FIELDS, and MG_ACTIVATE, the function of activations: mg_activate, or one like it.
 */

/* Adds the peephole weights of a gate times the cell to its sums. */
static inline void mg_lstm_peephole(const MG_PARAMS *p, uint32_t gate, const mg_f32 *c, mg_f32 *gates)
{
    const uint32_t first = gate * p->hidden, n = p->p == NULL ? 0u : p->hidden;
    for (uint32_t k = 0u; k < n; k += 1u) {
        gates[first + k] += p->p[first + k] * c[k];
    }
}

/* Computes one step of one element of the batch and updates h and c. */
static inline void mg_lstm_step(const MG_PARAMS *p, mg_f32 *gates, mg_f32 *h, mg_f32 *c)
{
    const uint32_t n = p->hidden;
    mg_f32 *const in = gates, *const out = in + n, *const kept = out + n, *const cell = kept + n;
    mg_lstm_peephole(p, 0u, c, gates);
    mg_lstm_peephole(p, 2u, c, gates);
    MG_ACTIVATE(p->kinds[0], p->clip, in, n);
    MG_ACTIVATE(p->kinds[0], p->clip, kept, n);
    MG_ACTIVATE(p->kinds[1], p->clip, cell, n);
    for (uint32_t k = 0u; k < n; k += 1u) {
        const float forget = p->coupled == 2u ? 1.0f - in[k] : kept[k];
        const float enter = p->coupled == 1u ? 1.0f - kept[k] : in[k];
        c[k] = mg_within(forget * c[k] + enter * cell[k], p->cell_clip);
        h[k] = c[k];
    }
    mg_lstm_peephole(p, 1u, c, gates);
    MG_ACTIVATE(p->kinds[0], p->clip, out, n);
    MG_ACTIVATE(p->kinds[2], 0.0f, h, n);
    for (uint32_t k = 0u; k < n; k += 1u) {
        h[k] *= out[k];
    }
}
