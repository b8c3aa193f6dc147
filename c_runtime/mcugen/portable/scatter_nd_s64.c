/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/scatter_nd_s64.h"

/* Start of the slice that an index selects, in elements. */
static uint32_t place(const mg_scatter_nd_s64_params *p, const mg_s32 *index)
{
    uint32_t at = 0u;
    for (uint32_t d = 0u; d < p->depth; d += 1u) {
        at += (uint32_t)mg_clamp(index[d], 0, p->sizes[d] - 1) * p->strides[d];
    }
    return at;
}

void mg_scatter_nd_s64(const mg_scatter_nd_s64_params *p, const mg_s32 *index, const mg_s64 *updates, mg_s64 *out)
{
    (void)memset(out, 0, p->elements * sizeof(*out));
    for (uint32_t k = 0u; k < p->count; k += 1u) {
        const mg_s64 *const from = updates + k * p->run;
        mg_s64 *const to = out + place(p, index + k * p->depth);
        for (uint32_t i = 0u; i < p->run; i += 1u) {
            to[i] = (int64_t)((uint64_t)to[i] + (uint64_t)from[i]);
        }
    }
}
