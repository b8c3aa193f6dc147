/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/batch_matmul_f32.h"

static float product(const mg_batch_matmul_f32_params *p, const mg_f32 *a, const mg_f32 *b)
{
    float sum = 0.0f;
    for (uint32_t k = 0u; k < p->depth; k += 1u) {
        sum += a[k * p->a_col] * b[k * p->b_row];
    }
    return sum;
}

static void matrix(const mg_batch_matmul_f32_params *p, const mg_f32 *a, const mg_f32 *b, mg_f32 *out)
{
    for (uint32_t i = 0u; i < p->rows; i += 1u) {
        for (uint32_t j = 0u; j < p->cols; j += 1u) {
            out[i * p->cols + j] = product(p, a + i * p->a_row, b + j * p->b_col);
        }
    }
}

void mg_batch_matmul_f32(const mg_batch_matmul_f32_params *p, const mg_f32 *a, const mg_f32 *b, mg_f32 *out)
{
    for (uint32_t n = 0u; n < p->batches; n += 1u) {
        matrix(p, a + p->first[2u * n], b + p->first[2u * n + 1u], out + n * p->rows * p->cols);
    }
}
