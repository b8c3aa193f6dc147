/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/scatter_integers.h"
#include "mcugen/any_integer.h"

void mg_scatter_integers(const mg_scatter_integers_params *p, const void *in, const mg_s32 *index, const void *updates,
                         void *out)
{
    (void)memmove(out, in, p->bytes);
    for (uint32_t k = 0u; k < p->count; k += 1u) {
        const uint32_t row = (uint32_t)mg_clamp(index[k], 0, (int32_t)p->rows - 1);
        for (uint32_t i = 0u; i < p->run; i += 1u) {
            const uint32_t at = row * p->run + i;
            const int64_t update = mg_integer_at(p->kind, updates, k * p->run + i);
            mg_store_integer(p->kind, out, at, mg_fold_integers(p->how, mg_integer_at(p->kind, out, at), update));
        }
    }
}
