/* SPDX-License-Identifier: Apache-2.0
 *
 * The boxes with the best scores, without those that overlap better ones.
 *
 * anchors   [count][4] centre y, x, height, width;   divisors: of what a box states of these
 * boxes     [count][width];   scores: [count][given], the last `classes` of them count
 * each      classes of each box among the results;   by_class: each class on its own, per_class boxes of it at most
 * Equals DetectionPostprocess.reference. Of equal scores the first anchor and the lowest class come first.
 */
#ifndef MCUGEN_DETECTION_POSTPROCESS_H
#define MCUGEN_DETECTION_POSTPROCESS_H

#include <math.h>

#include "mcugen/runtime.h"

/* Numbers: float, or int8 less a zero point, times a scale. */
typedef struct {
    uint32_t kind;
    float scale, zero;
} mg_detection_numbers;

typedef struct {
    const float *anchors;
    mg_detection_numbers boxes, scores;
    uint32_t count, width, given, classes;
    uint32_t detections, each, per_class, by_class, rows;
    float least_score, most_overlap;
    float divisors[4];
} mg_detection_postprocess_params;

/* scratch: 24 bytes for each anchor and 16 for each result. */
void mg_detection_postprocess(const mg_detection_postprocess_params *p, const void *boxes, const void *scores,
                              mg_f32 *places, mg_f32 *classes, mg_f32 *values, mg_f32 *total, void *scratch);

#endif /* MCUGEN_DETECTION_POSTPROCESS_H */
