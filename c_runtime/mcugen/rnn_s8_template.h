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

#define MG_GATES 1u
#include "mcugen/recurrent_s8_template.h"
