/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/box_table.h"

static uint32_t within(int64_t index, uint32_t count)
{
    return index < 0 ? 0u : index < (int64_t)count ? (uint32_t)index : count - 1u;
}

/* The score of a row. */
static float score_of(const mg_box_table_params *p, const mg_s64 *row, const mg_f32 *scores)
{
    return scores[(size_t)within(row[1], p->classes) * p->boxes + within(row[2], p->boxes)];
}

/* The best of the used rows that come after row `last`, which has the score `top`; `used` if there is none. */
static uint32_t next_row(const mg_box_table_params *p, const mg_s64 *rows, const mg_f32 *scores, uint32_t used, uint32_t last,
                         float top)
{
    uint32_t found = used;
    float best = 0.0f;
    for (uint32_t r = 0u; r < used; r += 1u) {
        const float score = score_of(p, rows + 3u * r, scores);
        const int is_left = last == used || score < top || (score == top && r > last);
        if (is_left && (found == used || score > best)) {
            found = r;
            best = score;
        }
    }
    return found;
}

static void write_box(const mg_box_table_params *p, const mg_f32 *box, mg_f32 *out)
{
    for (uint32_t k = 0u; k < 2u; k += 1u) {
        const float first = box[p->x ^ k], second = box[2u + (p->x ^ k)], half = second / 2.0f;
        out[k] = p->centred != 0u ? first - half : first;
        out[2u + k] = p->centred != 0u ? first + half : second;
    }
}

void mg_box_table(const mg_box_table_params *p, const mg_s64 *rows, const mg_f32 *boxes, const mg_f32 *scores, mg_f32 *out)
{
    uint32_t used = 0u;
    for (uint32_t r = 0u; r < p->rows; r += 1u) {
        used += used == r && rows[3u * r + 2u] >= 0 ? 1u : 0u;
    }
    uint32_t row = used;
    float top = 0.0f;
    for (uint32_t k = 0u; k < p->most; k += 1u) {
        mg_f32 *const to = out + 6u * k;
        (void)memset(to, 0, 6u * sizeof(mg_f32));
        row = k > 0u && row == used ? used : next_row(p, rows, scores, used, row, top);
        if (row < used) {
            const mg_s64 *const chosen = rows + 3u * row;
            write_box(p, boxes + 4u * within(chosen[2], p->boxes), to);
            top = score_of(p, chosen, scores);
            to[4] = top;
            to[5] = (float)within(chosen[1], p->classes);
        }
    }
}
