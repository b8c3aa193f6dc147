/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/scatter_f32.h"

void mg_scatter_f32(const mg_scatter_f32_params *p, const mg_f32 *in, const mg_s32 *index, const mg_f32 *updates,
                    mg_f32 *out)
{
    (void)memmove(out, in, p->bytes);
    for (uint32_t k = 0u; k < p->count; k += 1u) {
        const uint32_t row = (uint32_t)mg_clamp(index[k], 0, (int32_t)p->rows - 1);
        mg_f32 *const to = out + row * p->run;
        for (uint32_t i = 0u; i < p->run; i += 1u) {
            to[i] = mg_fold_floats(p->how, to[i], updates[k * p->run + i]);
        }
    }
}
