/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/flat_index.h"

void mg_flat_index(const mg_flat_index_params *p, const mg_s32 *in, mg_s32 *out)
{
    for (uint32_t b = 0u; b < p->batches; b += 1u) {
        for (uint32_t k = 0u; k < p->count; k += 1u) {
            const uint32_t at = b * p->count + k;
            int32_t found = (int32_t)b * p->batch;
            for (uint32_t d = 0u; d < p->depth; d += 1u) {
                const int32_t index = in[at * p->depth + d];
                const int32_t counted = index < 0 ? index + p->sizes[d] : index;
                found += mg_clamp(counted, 0, p->sizes[d] - 1) * p->strides[d];
            }
            out[at] = found;
        }
    }
}
