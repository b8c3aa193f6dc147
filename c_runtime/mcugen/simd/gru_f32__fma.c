/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/simd_gru_f32.h"
#include "mcugen/simd_activate.h"

/* Computes one step of one element of the batch and updates h. sums: of the data, data.out_c; room: state.out_c. */
static void mg_simd_gru_step(const mg_simd_gru_f32_params *p, mg_f32 *sums, mg_f32 *h, mg_f32 *room)
{
    const uint32_t n = p->hidden;
    mg_f32 *const z = sums, *const reset = sums + n, *const cell = sums + p->gates.out_c;
    const mg_f32 *const old[1] = {h}, *const kept[1] = {room};
    mg_simd_dense_f32(&p->gates, old, 1u, sums, 0u, sums);
    mg_simd_activate(p->kinds[0], p->clip, sums, 2u * n);
    if (p->after != 0u) {
        mg_simd_dense_f32(&p->state, old, 1u, p->state.bias, 0u, room);
        for (uint32_t k = 0u; k < n; k += 1u) {
            cell[k] += reset[k] * room[k];
        }
    } else {
        for (uint32_t k = 0u; k < n; k += 1u) {
            room[k] = reset[k] * h[k];
        }
        mg_simd_dense_f32(&p->state, kept, 1u, cell, 0u, cell);
    }
    mg_simd_activate(p->kinds[1], p->clip, cell, n);
    for (uint32_t k = 0u; k < n; k += 1u) {
        h[k] = (1.0f - z[k]) * cell[k] + z[k] * h[k];
    }
}

void mg_gru_f32__fma(const mg_simd_gru_f32_params *p, const mg_f32 *x, const mg_f32 *h0, mg_f32 *y, mg_f32 *h,
                     void *scratch)
{
    const size_t state = (size_t)p->batches * p->hidden, row = (size_t)p->batches * p->data.out_c;
    mg_f32 *const sums = scratch, *const room = sums + p->block * row;
    (void)memcpy(h, h0, state * sizeof(*h));
    for (uint32_t t = 0u; t < p->steps; t += p->block) {
        const uint32_t steps = p->steps - t < p->block ? p->steps - t : p->block;
        const mg_f32 *const data[1] = {x + (size_t)t * p->batches * p->inputs};
        mg_simd_dense_f32(&p->data, data, steps * p->batches, p->data.bias, 0u, sums);
        for (uint32_t k = 0u; k < steps; k += 1u) {
            for (uint32_t n = 0u; n < p->batches; n += 1u) {
                mg_simd_gru_step(p, sums + k * row + (size_t)n * p->data.out_c, h + (size_t)n * p->hidden, room);
            }
            (void)memcpy(y + (t + k) * state, h, state * sizeof(*h));
        }
    }
}
