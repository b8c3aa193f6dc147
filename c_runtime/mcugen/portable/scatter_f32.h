/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies a float32 tensor and combines some of its slices with updates; see mcugen/fold.h. Indices outside the tensor
 * are moved to its nearest end; updates take effect in their order.
 *
 * run    elements of a slice
 * bytes  size of the tensor
 */
#ifndef MCUGEN_SCATTER_F32_H
#define MCUGEN_SCATTER_F32_H

#include "mcugen/fold.h"

typedef struct {
    uint32_t run, count, rows, bytes, how;
} mg_scatter_f32_params;

/* Computes whole tensors: in and out [rows, run], index [count], updates [count, run]. */
void mg_scatter_f32(const mg_scatter_f32_params *p, const mg_f32 *in, const mg_s32 *index, const mg_f32 *updates, mg_f32 *out);

#endif /* MCUGEN_SCATTER_F32_H */
