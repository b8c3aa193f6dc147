/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/element_index.h"

void mg_element_index(const mg_element_index_params *p, const mg_s32 *in, mg_s32 *out)
{
    for (uint32_t k = 0u; k < p->elements; k += 1u) {
        const int32_t index = in[k];
        const int32_t counted = index < 0 ? index + p->size : index;
        int32_t found = mg_clamp(counted, 0, p->size - 1) * p->stride;
        uint32_t left = k;
        for (uint32_t d = 0u; d < MG_ELEMENT_INDEX_LOOPS; d += 1u) {
            const uint32_t loop = MG_ELEMENT_INDEX_LOOPS - 1u - d;
            found += (int32_t)(left % p->dims[loop]) * p->strides[loop];
            left /= p->dims[loop];
        }
        out[k] = found;
    }
}
