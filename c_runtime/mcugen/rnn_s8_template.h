/* SPDX-License-Identifier: Apache-2.0
 *
 * Template of rnn_s8.h. The including file defines MG_SYMBOL, MG_PARAMS and what gate_vectors.h defines; see
 * gru_s8_template.h.
 */

/* The state from a limited sum. */
static inline int32_t activated(mg_gates gates, uint32_t kind, int32_t sum)
{
    if (kind == 2u) {
        return sum & ~mg_sign(sum);
    }
    return kind == 1u ? mg_gate_tanh(gates.table, sum) : mg_gate_logistic(gates.table, sum);
}

/* Computes one step of one element of the batch. read: h8 before and after; data, state: room for the sums */
static void step(const MG_PARAMS *p, const MG_READ *x, MG_READ *read, mg_s16 *h, mg_s16 *data, mg_s16 *state)
{
    const MG_ROWS w = {p->w, p->w_bias, p->w_mult, p->w_shift, p->w_left, p->inputs};
    const MG_ROWS r = {p->r, p->r_bias, p->r_mult, p->r_shift, p->r_left, p->hidden};
    const mg_gates gates = {p->table, p->factor, p->low, p->high};
    const uint32_t n = p->hidden, kind = p->kind;
    sums(&w, x, n, data);
    sums(&r, read, n, state);
    for (uint32_t k = 0u; k < n; k += 1u) {
        const int32_t next = activated(gates, kind, mg_gate_limited(gates, data[k] + state[k]));
        h[k] = (int16_t)next;
        read[k] = (MG_READ)mg_gate_byte(next);
    }
}

void MG_SYMBOL(const MG_PARAMS *p, const int8_t *x, const mg_s16 *h0, int8_t *y, mg_s16 *h, void *scratch)
{
    const uint32_t n = p->hidden, whole = room(n);
    mg_s16 *const data = scratch, *const state = data + n;
    MG_READ *const read = (MG_READ *)(void *)(state + n), *const wide = read + whole;
    for (uint32_t b = 0u; b < p->batches; b += 1u) {
        mg_s16 *const now = h + b * n;
        for (uint32_t k = 0u; k < n; k += 1u) {
            now[k] = h0[b * n + k];
            read[k] = (MG_READ)mg_gate_byte(now[k]);
        }
        for (uint32_t k = n; k < whole; k += 1u) {
            read[k] = 0;
        }
        for (uint32_t t = 0u; t < p->steps; t += 1u) {
            const uint32_t at = t * p->batches + b;
            step(p, widened(x + at * p->inputs, wide, p->inputs), read, now, data, state);
            for (uint32_t k = 0u; k < n; k += 1u) {
                y[at * n + k] = (int8_t)read[k];
            }
        }
    }
}
