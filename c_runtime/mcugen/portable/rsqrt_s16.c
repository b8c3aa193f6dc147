/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/rsqrt_s16.h"

#include "mcugen/inverse_root.h"

void mg_rsqrt_s16(const mg_rsqrt_s16_params *p, const mg_s16 *in, mg_s16 *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        const mg_inverse_root by = mg_inverse_root_of(in[i] > 0 ? in[i] : 0);
        const int32_t kept = mg_requantize(1, by.mult, 20 - by.down);
        const int32_t y = mg_requantize(kept, p->mult, p->shift - 20);
        out[i] = (int16_t)(in[i] > 0 && y < INT16_MAX ? y : INT16_MAX);
    }
}
