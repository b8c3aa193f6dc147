/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: the recurrent layer MG_SYMBOL of one state, whose steps are computed by step(). The including file defines
 * what gru_s8_template.h names, and MG_GATES, the rows of weights for each element of the state.
 */
void MG_SYMBOL(const MG_PARAMS *p, const int8_t *x, const mg_s16 *h0, int8_t *y, mg_s16 *h, void *scratch)
{
    const uint32_t n = p->hidden, whole = room(n);
    mg_s16 *const data = scratch, *const state = data + MG_GATES * n;
    MG_READ *const read = (MG_READ *)(void *)(state + MG_GATES * n), *const wide = read + whole;
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
