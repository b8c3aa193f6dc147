/* SPDX-License-Identifier: Apache-2.0
 *
 * The boxes with the best scores, without boxes that overlap better boxes (non-maximum suppression).
 *
 * anchors       [count][4] centre y, centre x, height, width
 * divisors      [4] divisors of the data's offsets from an anchor: centre y, centre x, height, width
 * boxes         data [count][width], of which the first four elements of each row are used
 * scores        data [count][given], of which the last `classes` of each row are used; the elements before them are the
 *               background
 * each          with by_class 0: number of classes of a box that may be results
 * by_class      1: boxes are suppressed per class, and at most per_class boxes of a class are kept
 * least_score   least score of a result
 * most_overlap  intersection over union above which a box is suppressed
 * Equals DetectionPostprocess.reference. Of equal scores the first anchor and the lowest class come first.
 */
#ifndef MCUGEN_DETECTION_POSTPROCESS_H
#define MCUGEN_DETECTION_POSTPROCESS_H

#include <math.h>

#include "mcugen/runtime.h"

/* How the data is stored. kind 0: float; else int8, real = scale * (stored - zero). */
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
