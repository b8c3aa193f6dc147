/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies a tensor of any type and replaces some of its slices by updates.
 * Indices outside the tensor are moved to its nearest end; updates take effect in their order.
 *
 * bytes  size of the tensor
 */
#ifndef MCUGEN_SCATTER_ROWS_H
#define MCUGEN_SCATTER_ROWS_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t count, rows, bytes;
} mg_scatter_rows_params;

/* Computes whole tensors: in and out [rows, run], index [count], updates [count, run]. */
void mg_scatter_rows(const mg_scatter_rows_params *p, const void *in, const mg_s32 *index, const void *updates, void *out);

#endif /* MCUGEN_SCATTER_ROWS_H */
