/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/detection_postprocess.h"

typedef struct {
    mg_f32 top, left, bottom, right;
} box;

/* One result. */
typedef struct {
    mg_f32 score;
    mg_s32 anchor, label;
} detection;

/* Working memory, from scratch, and the number of results so far. */
typedef struct {
    box *boxes;
    mg_f32 *scores;
    detection *found;
    mg_s32 *left;
    uint32_t total;
} state;

static float number(const mg_detection_numbers *p, const void *data, uint32_t i)
{
    if (p->kind == 0u) {
        return ((const mg_f32 *)data)[i];
    }
    const float whole = (float)((const int8_t *)data)[i] - p->zero;
    return whole * p->scale;
}

static float score_of(const mg_detection_postprocess_params *p, const void *scores, uint32_t anchor, uint32_t label)
{
    return number(&p->scores, scores, anchor * p->given + (p->given - p->classes) + label);
}

/* The corners of an anchor's box. Centre and half sizes are computed in double and rounded once each, as in the
 * reference. */
static box decode(const mg_detection_postprocess_params *p, const void *boxes, uint32_t i)
{
    const float *const a = p->anchors + 4u * i;
    double x[4];
    for (uint32_t k = 0u; k < 4u; k += 1u) {
        x[k] = (double)number(&p->boxes, boxes, i * p->width + k) / (double)p->divisors[k];
    }
    const float y = (float)(x[0] * (double)a[2] + (double)a[0]), middle = (float)(x[1] * (double)a[3] + (double)a[1]);
    const float height = (float)(0.5 * exp(x[2]) * (double)a[2]), width = (float)(0.5 * exp(x[3]) * (double)a[3]);
    const box made = {y - height, middle - width, y + height, middle + width};
    return made;
}

static float area(const box *a)
{
    const float height = a->bottom - a->top, width = a->right - a->left;
    return height * width;
}

/* Whether the intersection over union of two boxes is above `most`. */
static int overlap(const box *a, const box *b, float most)
{
    const float first = area(a), second = area(b);
    if (first <= 0.0f || second <= 0.0f) {
        return 0;
    }
    const float top = a->top > b->top ? a->top : b->top, bottom = a->bottom < b->bottom ? a->bottom : b->bottom;
    const float left = a->left > b->left ? a->left : b->left, right = a->right < b->right ? a->right : b->right;
    const float height = bottom - top > 0.0f ? bottom - top : 0.0f, width = right - left > 0.0f ? right - left : 0.0f;
    const float common = height * width;
    const float both = first + second;
    return common / (both - common) > most;
}

/* The anchor with the best score among the anchors that are not yet chosen or suppressed: the first one of equal
 * scores; `count` if there is none.
 */
static uint32_t best(const mg_detection_postprocess_params *p, const state *s)
{
    uint32_t found = p->count;
    for (uint32_t i = 0u; i < p->count; i += 1u) {
        if (s->left[i] != 0 && (found == p->count || s->scores[i] > s->scores[found])) {
            found = i;
        }
    }
    return found;
}

/* Chooses the best anchor left, and suppresses it and all anchors that overlap it too much. Returns its index, or
 * `count` if no anchor is left. */
static uint32_t take(const mg_detection_postprocess_params *p, state *s)
{
    const uint32_t taken = best(p, s);
    const uint32_t others = taken < p->count ? p->count : 0u;
    for (uint32_t i = 0u; i < others; i += 1u) {
        if (i == taken || (s->left[i] != 0 && overlap(&s->boxes[taken], &s->boxes[i], p->most_overlap) != 0)) {
            s->left[i] = 0;
        }
    }
    return taken;
}

static void start(const mg_detection_postprocess_params *p, state *s)
{
    for (uint32_t i = 0u; i < p->count; i += 1u) {
        s->left[i] = s->scores[i] >= p->least_score ? 1 : 0;
    }
}

/* Inserts a detection behind all detections with equal or higher scores; at most `detections` are kept. */
static void insert(const mg_detection_postprocess_params *p, state *s, uint32_t anchor, uint32_t label)
{
    const detection made = {s->scores[anchor], (int32_t)anchor, (int32_t)label};
    const uint32_t total = s->total;
    uint32_t at = 0u;
    for (uint32_t k = 0u; k < total; k += 1u) {
        at += s->found[k].score >= made.score ? 1u : 0u;
    }
    if (at < p->detections) {
        const uint32_t last = s->total < p->detections ? s->total : p->detections - 1u;
        (void)memmove(&s->found[at + 1u], &s->found[at], (last - at) * sizeof(made));
        s->found[at] = made;
        s->total = last + 1u;
    }
}

/* Finds the results of each class on its own. */
static void by_class(const mg_detection_postprocess_params *p, state *s, const void *scores)
{
    for (uint32_t c = 0u; c < p->classes; c += 1u) {
        uint32_t taken = 0u;
        for (uint32_t i = 0u; i < p->count; i += 1u) {
            s->scores[i] = score_of(p, scores, i, c);
        }
        start(p, s);
        for (uint32_t k = 0u; k < p->per_class; k += 1u) {
            taken = taken < p->count ? take(p, s) : taken;
            if (taken < p->count) {
                insert(p, s, taken, c);
            }
        }
    }
}

/* The class of an anchor that follows class `before` in the order of falling scores; the best class if `before` is -1.
 */
static uint32_t next_class(const mg_detection_postprocess_params *p, const void *scores, uint32_t anchor, int32_t before)
{
    const float limit = before < 0 ? 0.0f : score_of(p, scores, anchor, (uint32_t)before);
    uint32_t found = p->classes;
    float most = 0.0f;
    for (uint32_t c = 0u; c < p->classes; c += 1u) {
        const float score = score_of(p, scores, anchor, c);
        const int is_left = before < 0 || score < limit || (score <= limit && (int32_t)c > before);
        if (is_left != 0 && (found == p->classes || score > most)) {
            found = c;
            most = score;
        }
    }
    return found;
}

/* Selects boxes by the scores of their best classes, then reports the best classes of each box. */
static void by_box(const mg_detection_postprocess_params *p, state *s, const void *scores)
{
    for (uint32_t i = 0u; i < p->count; i += 1u) {
        const uint32_t label = next_class(p, scores, i, -1);
        s->scores[i] = score_of(p, scores, i, label < p->classes ? label : 0u);
    }
    start(p, s);
    uint32_t taken = take(p, s);
    for (uint32_t k = 0u; k < p->detections; k += 1u) {
        const uint32_t classes = taken < p->count ? p->each : 0u;
        int32_t label = -1;
        for (uint32_t c = 0u; c < classes; c += 1u) {
            const uint32_t next = next_class(p, scores, taken, label);
            label = (int32_t)(next < p->classes ? next : 0u); /* NaN has no order */
            const detection made = {score_of(p, scores, taken, (uint32_t)label), (int32_t)taken, label};
            s->found[s->total] = made;
            s->total += 1u;
        }
        taken = taken < p->count ? take(p, s) : taken;
    }
}

void mg_detection_postprocess(const mg_detection_postprocess_params *p, const void *boxes, const void *scores,
                              mg_f32 *places, mg_f32 *classes, mg_f32 *values, mg_f32 *total, void *scratch)
{
    box *const decoded = scratch;
    mg_f32 *const best_scores = (mg_f32 *)&decoded[p->count];
    mg_s32 *const left = (mg_s32 *)&best_scores[p->count];
    state s = {decoded, best_scores, (detection *)&left[p->count], left, 0u};
    for (uint32_t i = 0u; i < p->count; i += 1u) {
        s.boxes[i] = decode(p, boxes, i);
    }
    if (p->by_class != 0u) {
        by_class(p, &s, scores);
    } else {
        by_box(p, &s, scores);
    }
    for (uint32_t k = 0u; k < p->rows; k += 1u) {
        const box none = {0.0f, 0.0f, 0.0f, 0.0f};
        const box place = k < s.total ? s.boxes[s.found[k].anchor] : none;
        (void)memcpy(places + 4u * k, &place, sizeof(place));
        classes[k] = k < s.total ? (float)s.found[k].label : 0.0f;
        values[k] = k < s.total ? s.found[k].score : 0.0f;
    }
    *total = (float)(p->by_class != 0u ? s.total : s.total / p->each);
}
