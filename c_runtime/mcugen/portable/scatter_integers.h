/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies a tensor of integers of any type and combines some of its slices with updates; see mcugen/fold.h. Indices
 * outside the tensor are moved to its nearest end; updates take effect in their order.
 *
 * run    elements of a slice
 * bytes  size of the tensor
 */
#ifndef MCUGEN_SCATTER_INTEGERS_H
#define MCUGEN_SCATTER_INTEGERS_H

#include "mcugen/fold.h"

typedef struct {
    uint32_t run, count, rows, bytes, how, kind;
} mg_scatter_integers_params;

/* Computes whole tensors: in and out [rows, run], index [count], updates [count, run]. */
void mg_scatter_integers(const mg_scatter_integers_params *p, const void *in, const mg_s32 *index, const void *updates, void *out);

#endif /* MCUGEN_SCATTER_INTEGERS_H */
