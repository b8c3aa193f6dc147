/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/scatter_rows.h"

void mg_scatter_rows(const mg_scatter_rows_params *p, const void *in, const mg_s32 *index, const void *updates, void *out)
{
    const uint32_t size = p->bytes / p->rows;
    (void)memmove(out, in, p->bytes);
    for (uint32_t k = 0u; k < p->count; k += 1u) {
        const uint32_t row = (uint32_t)mg_clamp(index[k], 0, (int32_t)p->rows - 1);
        (void)memcpy((uint8_t *)out + row * size, (const uint8_t *)updates + k * size, size);
    }
}
