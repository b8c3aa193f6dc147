/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/non_max_suppression.h"

/* The lower and the upper end of a box along each axis. */
typedef struct {
    float low[2], high[2];
} span;

static span span_of(const mg_non_max_suppression_params *p, const mg_f32 *box)
{
    span s;
    for (uint32_t k = 0u; k < 2u; k += 1u) {
        const float a = box[k], b = box[2u + k], half = b / 2.0f;
        s.low[k] = p->centred != 0u ? a - half : (a < b ? a : b);
        s.high[k] = p->centred != 0u ? a + half : (a < b ? b : a);
    }
    return s;
}

static float area(const span *s)
{
    const float height = s->high[0] - s->low[0], width = s->high[1] - s->low[1];
    return height * width;
}

/* Whether the intersection over union of two boxes is above `most`. */
static int overlap(const span *a, const span *b, float most)
{
    float side[2];
    for (uint32_t k = 0u; k < 2u; k += 1u) {
        const float low = a->low[k] > b->low[k] ? a->low[k] : b->low[k];
        side[k] = (a->high[k] < b->high[k] ? a->high[k] : b->high[k]) - low;
    }
    if (!(side[0] > 0.0f && side[1] > 0.0f)) {
        return 0;
    }
    const float common = side[0] * side[1], first = area(a), second = area(b);
    const float sum = first + second;
    const float both = sum - common;
    return common > 0.0f && first > 0.0f && second > 0.0f && both > 0.0f && common / both > most;
}

/* The box with the best score among the boxes that are not yet chosen or suppressed: the first one of equal scores;
 * `count` if there is none. */
static uint32_t best(const mg_non_max_suppression_params *p, const mg_f32 *scores, const uint8_t *left)
{
    uint32_t found = p->count;
    for (uint32_t i = 0u; i < p->count; i += 1u) {
        if (left[i] != 0u && (found == p->count || scores[i] > scores[found])) {
            found = i;
        }
    }
    return found;
}

/* Writes the rows of one class and returns their number. */
static uint32_t choose(const mg_non_max_suppression_params *p, const mg_f32 *boxes, const mg_f32 *scores, mg_s64 *out,
                       uint8_t *left)
{
    for (uint32_t i = 0u; i < p->count; i += 1u) {
        left[i] = scores[i] > p->least_score ? 1u : 0u;
    }
    for (uint32_t k = 0u; k < p->each; k += 1u) {
        const uint32_t at = best(p, scores, left);
        if (at == p->count) {
            return k;
        }
        const span chosen = span_of(p, boxes + 4u * at);
        out[3u * k + 2u] = (int64_t)at;
        for (uint32_t i = 0u; i < p->count; i += 1u) {
            const span other = span_of(p, boxes + 4u * i);
            left[i] = i == at || overlap(&other, &chosen, p->most_overlap) ? 0u : left[i];
        }
    }
    return p->each;
}

void mg_non_max_suppression(const mg_non_max_suppression_params *p, const mg_f32 *boxes, const mg_f32 *scores, mg_s64 *out,
                            uint8_t *scratch)
{
    uint32_t rows = 0u;
    for (uint32_t n = 0u; n < p->batches; n += 1u) {
        for (uint32_t c = 0u; c < p->classes; c += 1u) {
            mg_s64 *const to = out + 3u * rows;
            const uint32_t found = choose(p, boxes + 4u * n * p->count, scores + (n * p->classes + c) * p->count, to, scratch);
            for (uint32_t k = 0u; k < found; k += 1u) {
                to[3u * k] = (int64_t)n;
                to[3u * k + 1u] = (int64_t)c;
            }
            rows += found;
        }
    }
    for (uint32_t i = 3u * rows; i < 3u * p->batches * p->classes * p->each; i += 1u) {
        out[i] = -1;
    }
}
