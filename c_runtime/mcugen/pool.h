/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the pooling kernels: finds the taps of a window that lie inside the image.
 */
#ifndef MCUGEN_POOL_H
#define MCUGEN_POOL_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t first, end;
} mg_span;

/* Taps [first, end) of the window at output position `at` that lie inside `size` rows or columns. */
static inline mg_span mg_pool_span(uint32_t at, uint32_t stride, uint32_t pad, uint32_t kernel, uint32_t size)
{
    const uint32_t start = at * stride;
    const uint32_t first = start < pad ? pad - start : 0u;
    const uint32_t room = size + pad - start;
    const mg_span span = {first, room < kernel ? room : kernel};
    return span;
}

#endif /* MCUGEN_POOL_H */
