/* SPDX-License-Identifier: Apache-2.0
 *
 * Stacks the last `frames` frames of `channels` samples to one result. The first frame is repeated left + 1 times; two
 * results are `step` frames apart.
 * Equals SignalStacker.reference_q.
 */
#ifndef MCUGEN_SIGNAL_STACKER_H
#define MCUGEN_SIGNAL_STACKER_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t channels, left, frames, step;
} mg_signal_stacker_params;

/* kept, new_kept: the last `frames` frames before and after x, the newest last; new_kept receives y. count, new_count:
 * 0 before the first frame, else 1 + number of these frames that count towards the next result. */
void mg_signal_stacker(const mg_signal_stacker_params *p, const mg_s16 *x, const mg_s16 *kept, const mg_s32 *count,
                       mg_s16 *y, uint8_t *valid, mg_s16 *new_kept, mg_s32 *new_count);

#endif /* MCUGEN_SIGNAL_STACKER_H */
