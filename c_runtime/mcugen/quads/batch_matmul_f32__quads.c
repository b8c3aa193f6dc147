/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/batch_matmul_f32__quads.h"

#include "mcugen/quads_f32.h"

/* Copies four columns of b, of which n are there: four biases of 0, then the elements row by row; zeros for the others. */
static void four_columns(const mg_batch_matmul_f32__quads_params *p, const mg_f32 *b, uint32_t n, mg_f32 *to)
{
    for (uint32_t c = 0u; c < 4u; c += 1u) {
        const mg_f32 *const column = b + (c < n ? c * p->b_col : 0u);
        to[c] = 0.0f;
        for (uint32_t k = 0u; k < p->depth; k += 1u) {
            to[4u * k + 4u + c] = c < n ? column[k * p->b_row] : 0.0f;
        }
    }
}

void mg_batch_matmul_f32__quads(const mg_batch_matmul_f32__quads_params *p, const mg_f32 *a, const mg_f32 *b, mg_f32 *out,
                                mg_f32 *scratch)
{
    const uint32_t fours = (p->cols + 3u) / 4u, length = 4u * (p->depth + 1u);
    mg_quads_f32_params dense = {0};
    dense.weights = scratch;
    dense.taps = p->depth;
    dense.outputs = p->cols;
    dense.kind = MG_QUADS_NONE;
    for (uint32_t i = 0u; i < p->batches; i += 1u) {
        const mg_f32 *const right = b + p->first[2u * i + 1u];
        for (uint32_t j = 0u; j < fours; j += 1u) {
            four_columns(p, right + 4u * j * p->b_col, p->cols - 4u * j, scratch + j * length);
        }
        mg_conv2d_f32__quads_pointwise(&dense, a + p->first[2u * i], out + i * p->rows * p->cols, scratch + fours * length,
                                       p->rows);
    }
}
