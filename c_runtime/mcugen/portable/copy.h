/* SPDX-License-Identifier: Apache-2.0
 *
 * out = in, `size` bytes; they may not overlap. Equals the reference runtime's Copy for every type.
 */
#ifndef MCUGEN_COPY_H
#define MCUGEN_COPY_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t size;
} mg_copy_params;

void mg_copy(const mg_copy_params *p, const void *in, void *out);

#endif /* MCUGEN_COPY_H */
