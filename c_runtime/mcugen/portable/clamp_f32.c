/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/clamp_f32.h"

void mg_clamp_f32(const mg_clamp_f32_params *p, const mg_f32 *in, mg_f32 *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        const float x = in[i];
        const float floored = x < p->out_min ? p->out_min : x;
        out[i] = floored > p->out_max ? p->out_max : floored;
    }
}
