/* SPDX-License-Identifier: Apache-2.0
 *
 * The boxes with the best scores of each class, without boxes that overlap better boxes, in float32.
 *
 *   out     rows (image, class, box), best first, class by class; then rows of -1
 *   boxes   two corners, or with `centred` a centre, width and height
 *   scores  count only if above least_score; of equal scores the first box comes first
 */
#ifndef MCUGEN_NON_MAX_SUPPRESSION_H
#define MCUGEN_NON_MAX_SUPPRESSION_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t batches, classes, count, each;
    float most_overlap, least_score;
    uint32_t centred;
} mg_non_max_suppression_params;

/* boxes [batches, count, 4]; scores [batches, classes, count]; out [batches * classes * each, 3]; scratch: count bytes. */
void mg_non_max_suppression(const mg_non_max_suppression_params *p, const mg_f32 *boxes, const mg_f32 *scores, mg_s64 *out,
                            uint8_t *scratch);

#endif /* MCUGEN_NON_MAX_SUPPRESSION_H */
