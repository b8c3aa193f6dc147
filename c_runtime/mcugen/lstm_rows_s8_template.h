/* SPDX-License-Identifier: Apache-2.0
 *
 * Template of lstm_rows_s8.h. The including file defines MG_SYMBOL, MG_PARAMS and what gate_vectors.h defines; see
 * gru_s8_template.h.
 */

/* Computes one step of one element of the batch. read: h8 before and after; data, state: room for four gates */
static void step(const MG_PARAMS *p, const MG_READ *x, MG_READ *read, mg_s16 *h, mg_s16 *c, mg_s16 *data, mg_s16 *state)
{
    const MG_ROWS w = {p->w, p->w_bias, p->w_mult, p->w_shift, p->w_left, p->inputs};
    const MG_ROWS r = {p->r, p->r_bias, p->r_mult, p->r_shift, p->r_left, p->hidden};
    const mg_gates gates = {p->table, p->factor, p->low, p->high};
    const uint32_t n = p->hidden, enter = p->enter, right = p->cell_right;
    const int32_t factor = p->cell_factor, half = p->cell_half;
    sums(&w, x, 4u * n, data);
    sums(&r, read, 4u * n, state);
    for (uint32_t k = 0u; k < n; k += 1u) {
        const int32_t i = mg_gate_logistic(gates.table, mg_gate_limited(gates, data[k] + state[k]));
        const int32_t o = mg_gate_logistic(gates.table, mg_gate_limited(gates, data[n + k] + state[n + k]));
        const int32_t f = mg_gate_logistic(gates.table, mg_gate_limited(gates, data[2u * n + k] + state[2u * n + k]));
        const int32_t g = mg_gate_tanh(gates.table, mg_gate_limited(gates, data[3u * n + k] + state[3u * n + k]));
        const int32_t kept = f * c[k];
        const int32_t rest = (kept & 0x7FFF) * ((int32_t)1 << (enter - 15u)) + i * g + ((int32_t)1 << (enter - 1u));
        const int32_t cell = mg_flat_s16((kept >> 15) + (rest >> enter));
        const int32_t next = mg_gate_product(o, mg_gate_tanh(gates.table, (cell * factor + half) >> right));
        c[k] = (int16_t)cell;
        h[k] = (int16_t)next;
        read[k] = (MG_READ)mg_gate_byte(next);
    }
}

void MG_SYMBOL(const MG_PARAMS *p, const int8_t *x, const mg_s16 *h0, const mg_s16 *c0, int8_t *y, mg_s16 *h, mg_s16 *c,
               void *scratch)
{
    const uint32_t n = p->hidden, whole = room(n);
    mg_s16 *const data = scratch, *const state = data + 4u * n;
    MG_READ *const read = (MG_READ *)(void *)(state + 4u * n), *const wide = read + whole;
    for (uint32_t b = 0u; b < p->batches; b += 1u) {
        mg_s16 *const now = h + b * n, *const cell = c + b * n;
        for (uint32_t k = 0u; k < n; k += 1u) {
            now[k] = h0[b * n + k];
            cell[k] = c0[b * n + k];
            read[k] = (MG_READ)mg_gate_byte(now[k]);
        }
        for (uint32_t k = n; k < whole; k += 1u) {
            read[k] = 0;
        }
        for (uint32_t t = 0u; t < p->steps; t += 1u) {
            const uint32_t at = t * p->batches + b;
            step(p, widened(x + at * p->inputs, wide, p->inputs), read, now, cell, data, state);
            for (uint32_t k = 0u; k < n; k += 1u) {
                y[at * n + k] = (int8_t)read[k];
            }
        }
    }
}
