/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/scatter_nd_s8.h"

/* Start of the slice that an index selects, in elements. */
static uint32_t place(const mg_scatter_nd_s8_params *p, const mg_s32 *index)
{
    uint32_t at = 0u;
    for (uint32_t d = 0u; d < p->depth; d += 1u) {
        at += (uint32_t)mg_clamp(index[d], 0, p->sizes[d] - 1) * p->strides[d];
    }
    return at;
}

void mg_scatter_nd_s8(const mg_scatter_nd_s8_params *p, const mg_s32 *index, const int8_t *updates, int8_t *out)
{
    (void)memset(out, 0, p->elements * sizeof(*out));
    for (uint32_t k = 0u; k < p->count; k += 1u) {
        const int8_t *const from = updates + k * p->run;
        int8_t *const to = out + place(p, index + k * p->depth);
        for (uint32_t i = 0u; i < p->run; i += 1u) {
            to[i] = (int8_t)(to[i] + from[i]);
        }
    }
}
