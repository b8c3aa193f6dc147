/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * s64 -> s32, int64 -> int32, uint64 -> uint32
 * s64 -> s8, mg_s64 -> int8_t, int64 -> int8, uint64 -> uint32
 * s64 -> f32, mg_s64 -> mg_f32, int64_t -> float, (int64_t)((uint64_t)a + (uint64_t)b) -> a + b
 */
#include "mcugen/scatter_nd_s64.h"

/* a + b; integers wrap. */
static int64_t sum_of(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* Start of the slice that an index selects, in elements. */
static uint32_t start_of(const mg_scatter_nd_s64_params *p, const mg_s32 *index)
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
        mg_s64 *const to = out + start_of(p, index + k * p->depth);
        for (uint32_t i = 0u; i < p->run; i += 1u) {
            to[i] = sum_of(to[i], from[i]);
        }
    }
}
