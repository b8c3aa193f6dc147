/* SPDX-License-Identifier: Apache-2.0
 *
 * Detects that the sum of the newest `size` probabilities exceeds `limit`. A detection clears these probabilities, and
 * the next one comes `hold` rows later at the earliest. Each probability stands for `step` rows.
 * Equals Detect.reference_q.
 */
#ifndef MCUGEN_DETECT_H
#define MCUGEN_DETECT_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t size, limit, hold, step;
} mg_detect_params;

/* recent, next: the newest `size` probabilities before and after this row, oldest first; may be the same memory. wait,
 * left: minus the rows that still pass without a detection, before and after this row. */
void mg_detect(const mg_detect_params *p, const uint8_t *x, const uint8_t *recent, const mg_s32 *wait, uint8_t *found,
               uint8_t *next, mg_s32 *left);

#endif /* MCUGEN_DETECT_H */
