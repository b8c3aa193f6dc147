/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/swar_matmul.h"
#include "mcugen/swar_bytes.h"

/* floor(sum * mult / 2^24), |sum| < 2^23 */
static inline int32_t product(int32_t sum, int32_t mult)
{
#if defined(__ARM_ARCH_6M__)
    /* Four multiplications are faster than the library's product of 64 bits. */
    const int32_t low = (sum * (mult & 0xFF)) >> 8, second = (low + sum * ((mult >> 8) & 0xFF)) >> 8;
    return ((second + sum * ((mult >> 16) & 0xFF)) >> 8) + sum * (mult >> 24);
#else
    return (int32_t)(((int64_t)(sum * 256) * mult) >> 32);
#endif
}

static inline int8_t finish(const mg_swar_matmul_params *p, int32_t sum)
{
    const int32_t y = (product(sum, p->mult) + p->rounding + (mg_sign(sum) & p->below)) >> p->shift;
    return (int8_t)(mg_clamp(y, 0, p->out_span) + p->out_min);
}

/* Copies two vectors, plus 128, next to each other; `step`: elements from one of a vector to the next. Returns the sums
 * of both. */
static void pair(const int8_t *const *from, uint32_t step, uint32_t n, uint8_t *to, uint32_t *sums)
{
    const int8_t *x = from[0], *y = from[1];
    uint32_t first = 0u, second = 0u;
    for (uint32_t k = 0u; k < n; k += 1u) {
        const uint32_t u = (uint32_t)(x[k * step] + 128), v = (uint32_t)(y[k * step] + 128);
        to[2u * k] = (uint8_t)u;
        to[2u * k + 1u] = (uint8_t)v;
        first += u;
        second += v;
    }
    sums[0] = first;
    sums[1] = second;
}

/* Writes the columns of b and their sums. */
static void columns_of(const mg_swar_matmul_params *p, const int8_t *b, mg_s32 *of_columns, uint8_t *bytes)
{
    const uint32_t depth = p->depth, c = (uint32_t)(p->b_zero_point + 128), d = (uint32_t)(p->a_zero_point + 128);
    for (uint32_t j = 0u; j < p->cols; j += 2u) {
        const int8_t *const first = b + j * p->b_col;
        const int8_t *const from[2] = {first, j + 1u < p->cols ? first + p->b_col : first};
        uint32_t sums[2];
        pair(from, p->b_row, depth, bytes + j * depth, sums);
        of_columns[j] = (int32_t)(d * (depth * c - sums[0]));
        of_columns[j + 1u] = (int32_t)(d * (depth * c - sums[1]));
    }
}

/* Multiplies two rows, or one that stands twice, with all columns. last: elements from the first row of the result to
 * the last one. */
static void rows_of(const mg_swar_matmul_params *p, const mg_s32 *of_columns, const uint8_t *v, const uint8_t *u,
                    const uint32_t *of_rows, int8_t *out, uint32_t last)
{
    for (uint32_t j = 0u; j < p->cols; j += 2u) {
        const uint32_t first = (uint32_t)of_columns[j], second = (uint32_t)of_columns[j + 1u];
        uint32_t sums[4] = {of_rows[0] + first, of_rows[0] + second, of_rows[1] + first, of_rows[1] + second};
        mg_swar_bytes(u, v + j * p->depth, p->depth, sums);
        out[j] = finish(p, (int32_t)sums[0]);
        out[last + j] = finish(p, (int32_t)sums[2]);
        if (j + 1u < p->cols) {
            out[j + 1u] = finish(p, (int32_t)sums[1]);
            out[last + j + 1u] = finish(p, (int32_t)sums[3]);
        }
    }
}

static void matrix(const mg_swar_matmul_params *p, const int8_t *a, const int8_t *b, int8_t *out, mg_s32 *scratch)
{
    const uint32_t columns = (p->cols + 1u) & ~1u, c = (uint32_t)(p->b_zero_point + 128);
    uint8_t *const v = (uint8_t *)(void *)(scratch + columns), *const u = v + columns * p->depth;
    columns_of(p, b, scratch, v);
    for (uint32_t i = 0u; i < p->rows; i += 2u) {
        const int8_t *const first = a + i * p->a_row;
        const uint32_t both = i + 1u < p->rows ? 1u : 0u;
        const int8_t *const from[2] = {first, first + both * p->a_row};
        uint32_t of_rows[2];
        pair(from, p->a_col, p->depth, u, of_rows);
        of_rows[0] = 0u - c * of_rows[0];
        of_rows[1] = 0u - c * of_rows[1];
        rows_of(p, scratch, v, u, of_rows, out + i * p->cols, both * p->cols);
    }
}

void mg_batch_matmul_s8__swar(const mg_swar_matmul_params *p, const int8_t *a, const int8_t *b, int8_t *out, mg_s32 *scratch)
{
    for (uint32_t n = 0u; n < p->batches; n += 1u) {
        int8_t *const result = out + n * p->rows * p->cols;
        matrix(p, a + p->first[2u * n], b + p->first[2u * n + 1u], result, scratch);
    }
}
