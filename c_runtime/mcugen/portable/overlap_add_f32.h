/* SPDX-License-Identifier: Apache-2.0
 *
 * Overlapping frames of f32 added up to samples: [rows][frames][size], `step` samples apart.
 * Equals OverlapAdd.reference within rounding.
 */
#ifndef MCUGEN_OVERLAP_ADD_F32_H
#define MCUGEN_OVERLAP_ADD_F32_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t rows, frames, size, step;
} mg_overlap_add_f32_params;

/* sums: [rows][size], the state before these frames; new_sums: the state after them. */
void mg_overlap_add_f32(const mg_overlap_add_f32_params *p, const mg_f32 *x, const mg_f32 *sums, mg_f32 *y, mg_f32 *new_sums);

#endif /* MCUGEN_OVERLAP_ADD_F32_H */
