/* SPDX-License-Identifier: Apache-2.0
 *
 * Template of gru_s8.h. The including file defines MG_SYMBOL, the function; MG_PARAMS, its parameters; and what
 * gate_vectors.h defines: MG_READ, the type of the vectors that products read; MG_ROWS, the type of rows of weights;
 * room(n), the elements of a vector of n; widened(), a vector as products read it; rows_after(), the rows after the
 * first ones; sums(), the sums of gates over rows.
 */

/* Computes one step of one element of the batch. read: h8 before and after; data, state: room for three gates */
static void step(const MG_PARAMS *p, const MG_READ *x, MG_READ *read, mg_s16 *h, mg_s16 *data, mg_s16 *state)
{
    const MG_ROWS w = {p->w, p->w_bias, p->w_mult, p->w_shift, p->w_left, p->inputs};
    const MG_ROWS r = {p->r, p->r_bias, p->r_mult, p->r_shift, p->r_left, p->hidden};
    const mg_gates gates = {p->table, p->factor, p->low, p->high};
    const uint32_t n = p->hidden, after = p->after;
    sums(&w, x, 3u * n, data);
    sums(&r, read, (after != 0u ? 3u : 2u) * n, state);
    for (uint32_t k = 0u; k < n; k += 1u) {
        const int32_t reset = mg_gate_logistic(gates.table, mg_gate_limited(gates, data[n + k] + state[n + k]));
        state[k] = (int16_t)mg_gate_logistic(gates.table, mg_gate_limited(gates, data[k] + state[k]));
        if (after != 0u) {
            state[2u * n + k] = (int16_t)mg_gate_product(reset, state[2u * n + k]);
        } else {
            read[k] = (MG_READ)mg_flat_smaller((reset * h[k] + (1 << 22)) >> 23, INT8_MAX);
        }
    }
    if (after == 0u) {
        const MG_ROWS last = rows_after(r, 2u * n);
        sums(&last, read, n, state + 2u * n);
    }
    for (uint32_t k = 0u; k < n; k += 1u) {
        const int32_t sum = mg_gate_limited(gates, data[2u * n + k] + state[2u * n + k]);
        const int32_t fresh = mg_gate_tanh(gates.table, sum);
        const int32_t next = fresh + mg_gate_product(state[k], h[k] - fresh);
        h[k] = (int16_t)next;
        read[k] = (MG_READ)mg_gate_byte(next);
    }
}

#define MG_GATES 3u
#include "mcugen/recurrent_s8_template.h"
