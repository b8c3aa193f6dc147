/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/gru_f32.h"
#include "mcugen/dots_f32.h"

#define MG_GRU_ROWS 8u /* rows of the new state that are computed at once, on the stack */

typedef struct {
    const mg_f32 *w, *r, *b, *a;
} mg_gru_f32_weights;

/* Computes the gates z and r: 2 * `hidden` numbers. */
static void gates_of(const mg_gru_f32_params *p, const mg_gru_f32_weights *by, const mg_f32 *x, const mg_f32 *h, mg_f32 *gates)
{
    const uint32_t rows = 2u * p->hidden;
    memcpy(gates, by->b, rows * sizeof(*gates));
    mg_dots_f32(by->w, x, p->inputs, rows, gates);
    for (uint32_t g = 0u; g < rows; g += 1u) {
        gates[g] += by->a[g];
    }
    mg_dots_f32(by->r, h, p->hidden, rows, gates);
    mg_activate(p->kinds[0], p->clip, gates, rows);
}

/* Computes one step of one element of the batch and updates h. room: 3 * `hidden` floats. */
static void step(const mg_gru_f32_params *p, const mg_gru_f32_weights *by, const mg_f32 *x, mg_f32 *h, mg_f32 *room)
{
    const uint32_t n = p->hidden;
    mg_f32 *const z = room;
    mg_f32 *const reset = room + n;
    mg_f32 *const old = reset + n;
    gates_of(p, by, x, h, room);
    for (uint32_t k = 0u; k < n; k += 1u) {
        old[k] = p->after != 0u ? h[k] : reset[k] * h[k];
    }
    for (uint32_t k = 0u; k < n; k += MG_GRU_ROWS) {
        const uint32_t g = 2u * n + k, rows = n - k < MG_GRU_ROWS ? n - k : MG_GRU_ROWS;
        mg_f32 data[MG_GRU_ROWS], state[MG_GRU_ROWS];
        memcpy(data, by->b + g, rows * sizeof(*data));
        memcpy(state, by->a + g, rows * sizeof(*state));
        mg_dots_f32(by->w + g * p->inputs, x, p->inputs, rows, data);
        mg_dots_f32(by->r + g * n, old, n, rows, state);
        for (uint32_t i = 0u; i < rows; i += 1u) {
            data[i] += p->after != 0u ? reset[k + i] * state[i] : state[i];
        }
        mg_activate(p->kinds[1], p->clip, data, rows);
        for (uint32_t i = 0u; i < rows; i += 1u) {
            h[k + i] = (1.0f - z[k + i]) * data[i] + z[k + i] * h[k + i];
        }
    }
}

void mg_gru_f32(const mg_gru_f32_params *p, const mg_f32 *x, const mg_f32 *w, const mg_f32 *r, const mg_f32 *b,
                const mg_f32 *a, const mg_f32 *h0, mg_f32 *y, mg_f32 *h, void *scratch)
{
    const mg_gru_f32_weights by = {w, r, b, a};
    const uint32_t state = p->batches * p->hidden;
    memcpy(h, h0, state * sizeof(*h));
    for (uint32_t t = 0u; t < p->steps; t += 1u) {
        for (uint32_t n = 0u; n < p->batches; n += 1u) {
            step(p, &by, x + (t * p->batches + n) * p->inputs, h + n * p->hidden, scratch);
        }
        memcpy(y + t * state, h, state * sizeof(*h));
    }
}
