/* SPDX-License-Identifier: Apache-2.0
 *
 * Overlapping frames of s16 added up to samples: [rows][frames][size], `step` samples apart.
 * Equals OverlapAdd.reference bit by bit.
 */
/* Copies of this file, one a line, with these words replaced:
 * s16 -> f32, bit by bit -> within rounding
 */
#ifndef MCUGEN_OVERLAP_ADD_S16_H
#define MCUGEN_OVERLAP_ADD_S16_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t rows, frames, size, step;
} mg_overlap_add_s16_params;

/* sums: [rows][size], the state before these frames; new_sums: the state after them. */
void mg_overlap_add_s16(const mg_overlap_add_s16_params *p, const mg_s16 *x, const mg_s16 *sums, mg_s16 *y, mg_s16 *new_sums);

#endif /* MCUGEN_OVERLAP_ADD_S16_H */
