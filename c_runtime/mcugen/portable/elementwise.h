/* SPDX-License-Identifier: Apache-2.0
 *
 * Walks two tensors together, element by element, with broadcasting.
 */
#ifndef MCUGEN_ELEMENTWISE_H
#define MCUGEN_ELEMENTWISE_H

#include "mcugen/runtime.h"

#define MG_ELEMENTWISE_LOOPS 5u

/* walk: sizes of the five outer loops, outermost first, then their strides in a, then in b. runs: number of runs, the
 * product of these sizes. run: elements of a run, the inner loop. */
typedef struct {
    const uint32_t *walk;
    uint32_t runs, run;
} mg_elementwise;

/* Start of the current run: an index per outer loop, and offsets into a and b. */
typedef struct {
    uint32_t index[MG_ELEMENTWISE_LOOPS];
    uint32_t a, b;
} mg_elementwise_place;

/* The start of the first run. */
static inline mg_elementwise_place mg_elementwise_first(void)
{
    const mg_elementwise_place first = {{0u}, 0u, 0u};
    return first;
}

static inline void mg_elementwise_next(const mg_elementwise *layout, mg_elementwise_place *at)
{
    uint32_t carry = 1u;
    for (uint32_t k = 0u; k < MG_ELEMENTWISE_LOOPS; k += 1u) {
        const uint32_t loop = MG_ELEMENTWISE_LOOPS - 1u - k;
        const uint32_t size = layout->walk[loop];
        const uint32_t a_stride = layout->walk[MG_ELEMENTWISE_LOOPS + loop];
        const uint32_t b_stride = layout->walk[2u * MG_ELEMENTWISE_LOOPS + loop];
        const uint32_t next = at->index[loop] + carry;
        const uint32_t back = next == size ? size : 0u;
        at->index[loop] = next - back;
        at->a += (carry - back) * a_stride;
        at->b += (carry - back) * b_stride;
        carry = back != 0u ? 1u : 0u;
    }
}

#endif /* MCUGEN_ELEMENTWISE_H */
