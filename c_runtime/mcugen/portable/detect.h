/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the newest `size` probabilities together exceed `limit`. After a detection they are cleared, and `hold` rows,
 * of which each probability brings `step`, pass without another.
 * Equals Detect.reference_q.
 */
#ifndef MCUGEN_DETECT_H
#define MCUGEN_DETECT_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t size, limit, hold, step;
} mg_detect_params;

/* recent, next: oldest first, may be the same memory. wait: rows to go, 0 or less. */
void mg_detect(const mg_detect_params *p, const uint8_t *x, const uint8_t *recent, const mg_s32 *wait, uint8_t *found,
               uint8_t *next, mg_s32 *left);

#endif /* MCUGEN_DETECT_H */
