/* SPDX-License-Identifier: Apache-2.0
 *
 * The last `frames` frames of `channels` samples. The first frame counts left + 1 times; after each result, `step` frames
 * are given up.
 * Equals SignalStacker.reference_q.
 */
#ifndef MCUGEN_SIGNAL_STACKER_H
#define MCUGEN_SIGNAL_STACKER_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t channels, left, frames, step;
} mg_signal_stacker_params;

/* kept: the last frames, the newest last; count: one more than those that count, 0 before the first. y is kept too. */
void mg_signal_stacker(const mg_signal_stacker_params *p, const mg_s16 *x, const mg_s16 *kept, const mg_s32 *count,
                       mg_s16 *y, uint8_t *valid, mg_s16 *new_kept, mg_s32 *new_count);

#endif /* MCUGEN_SIGNAL_STACKER_H */
