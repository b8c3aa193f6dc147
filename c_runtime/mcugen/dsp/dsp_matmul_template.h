/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: products of two computed matrices. MG_WORDS: words of two elements of depth that are unrolled. Uses
 * dsp_block_template.h.
 */
#include "mcugen/dsp_matmul.h"
#include "mcugen/dsp_widen.h"

#define MG_QUADS (MG_WORDS / 2)
#define MG_PAIR (MG_WORDS % 2)
#define MG_SEGMENTS 0
#define MG_STEP 0
#define MG_REST 0
#include "mcugen/dsp_block_template.h"

MG_DECLARE_dsp_matmul(MG_KERNEL);

/* Writes 2 * (b - b_zero_point) for the elements of a column to the stream of its pair. Returns their sum. */
static int32_t MG_VARIANT(column)(const mg_dsp_matmul_params *p, const int8_t *b, mg_s16 *w)
{
    const uint32_t step = p->b_row, whole = p->depth & ~3u, moved = 4u - (p->depth & 3u), elements = 2u * p->words;
    const int32_t zero = 2 * p->b_zero_point;
    int32_t sum = 0;
    for (uint32_t k = 0u; k < whole; k += 4u) {
        const int8_t *const from = b + k * step;
        mg_s16 *const to = w + 2u * k;
        const int32_t first = 2 * from[0] - zero, second = 2 * from[step] - zero;
        const int32_t third = 2 * from[2u * step] - zero, fourth = 2 * from[3u * step] - zero;
        to[0] = (int16_t)first;
        to[4] = (int16_t)second;
        to[1] = (int16_t)third;
        to[5] = (int16_t)fourth;
        sum += first + second + third + fourth;
    }
    for (uint32_t k = whole; k < elements; k += 2u) {
        w[2u * k] = 0;
        w[2u * k + 1u] = 0;
    }
    for (uint32_t k = whole; k < p->depth; k += 1u) {
        const uint32_t in_group = k - whole + moved;
        const int32_t value = 2 * b[k * step] - zero;
        w[2u * whole + 4u * (in_group & 1u) + (in_group >> 1)] = (int16_t)value;
        sum += value;
    }
    return sum;
}

/* Writes the stream of n columns of b. In a last pair of one column, the column stands twice. */
static void MG_VARIANT(stream)(const mg_dsp_matmul_params *p, const int8_t *b, int32_t *stream, uint32_t n)
{
    const uint32_t length = 8u + 2u * p->words;
    for (uint32_t j = 0u; j < n; j += 2u) {
        int32_t *const pair = stream + j / 2u * length;
        for (uint32_t c = 0u; c < 2u; c += 1u) {
            const int8_t *const column = b + (j + c < n ? j + c : j) * p->b_col;
            const int32_t sum = MG_VARIANT(column)(p, column, (mg_s16 *)(void *)(pair + 2) + 2u * c);
            pair[c] = (int32_t)(0u - (uint32_t)p->a_zero_point * (uint32_t)sum);
        }
        for (uint32_t k = 0u; k < 6u; k += 1u) {
            pair[length - 6u + k] = p->scales[k];
        }
    }
}

/* Widens three rows of a that are `step` elements apart. */
static inline void MG_VARIANT(gather)(const mg_dsp_matmul_params *p, const int8_t *a, uint32_t step, mg_s16 *rows)
{
    const uint32_t groups = p->depth / 4u;
    const int8_t *const rest = a + p->depth - 4;
    mg_dsp_gather_bytes(a, a + step, a + 2u * step, rows, groups);
    if ((p->depth & 3u) != 0u) {
        mg_dsp_gather_bytes(rest, rest + step, rest + 2u * step, rows + groups * 12u, 1u);
    }
}

/* Multiplies all rows of a with the n columns of a stream, three rows at a time. The last three rows end with the last
 * row and may overlap those before. If there are 1 or 2 rows, each takes the place of three. */
static void MG_VARIANT(columns)(const mg_dsp_matmul_params *p, const int8_t *a, int8_t *out, mg_s16 *scratch, uint32_t n)
{
    const uint32_t length = 8u + 2u * p->words, at_once = p->rows < 3u ? 1u : 3u;
    const int32_t *const stream = (const int32_t *)(const void *)(scratch + p->words * 6u);
    const int32_t *const end = stream + n / 2u * length;
    mg_dsp_job job = {scratch, end, (uintptr_t)stream, out, at_once == 1u ? 0u : p->cols, stream, 1u};
    for (uint32_t i = 0u; i < p->rows; i += at_once) {
        const uint32_t first = i + at_once <= p->rows ? i : p->rows - at_once;
        job.out = out + first * p->cols;
        MG_VARIANT(gather)(p, a + first * p->a_row, at_once == 1u ? 0u : p->a_row, scratch);
        MG_VARIANT(channels)(&job, end + (n & 1u) * length, n, 3u);
    }
}

MG_LINKAGE void MG_KERNEL(const mg_dsp_matmul_params *p, const int8_t *a, const int8_t *b, int8_t *out, mg_s16 *scratch)
{
    int32_t *const stream = (int32_t *)(void *)(scratch + p->words * 6u);
    for (uint32_t i = 0u; i < p->batches; i += 1u) {
        const int8_t *const left = a + p->first[2u * i], *const right = b + p->first[2u * i + 1u];
        int8_t *const result = out + i * p->rows * p->cols;
        for (uint32_t j = 0u; j < p->cols; j += p->panel) {
            const uint32_t n = p->cols - j < p->panel ? p->cols - j : p->panel;
            MG_VARIANT(stream)(p, right + j * p->b_col, stream, n);
            MG_VARIANT(columns)(p, left, result + j, scratch, n);
        }
    }
}

#undef MG_QUADS
#undef MG_PAIR
#undef MG_SEGMENTS
#undef MG_STEP
#undef MG_REST
