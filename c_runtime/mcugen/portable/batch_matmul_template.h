/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: products of two computed matrices of stored integers, one for each batch. Needs MG_NAME(params), MG_NAME(x),
 * MG_NAME(acc), the type of products and sums, MG_NAME(finish)(p, sum), and MG_SYMBOL, the function to define.
 */
static MG_NAME(acc) MG_NAME(sum)(const MG_NAME(params) *p, const MG_NAME(x) *a, const MG_NAME(x) *b)
{
    const MG_NAME(acc) a_zero = p->a_zero_point, b_zero = p->b_zero_point;
    MG_NAME(acc) sum = 0;
    for (uint32_t k = 0u; k < p->depth; k += 1u) {
        sum += (a[k * p->a_col] - a_zero) * (b[k * p->b_row] - b_zero);
    }
    return sum;
}

static void MG_NAME(matrix)(const MG_NAME(params) *p, const MG_NAME(x) *a, const MG_NAME(x) *b, MG_NAME(x) *out)
{
    for (uint32_t i = 0u; i < p->rows; i += 1u) {
        for (uint32_t j = 0u; j < p->cols; j += 1u) {
            out[i * p->cols + j] = MG_NAME(finish)(p, MG_NAME(sum)(p, a + i * p->a_row, b + j * p->b_col));
        }
    }
}

void MG_SYMBOL(const MG_NAME(params) *p, const MG_NAME(x) *a, const MG_NAME(x) *b, MG_NAME(x) *out)
{
    for (uint32_t n = 0u; n < p->batches; n += 1u) {
        MG_NAME(matrix)(p, a + p->first[2u * n], b + p->first[2u * n + 1u], out + n * p->rows * p->cols);
    }
}
