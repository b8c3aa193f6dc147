/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/dequantize.h"

void mg_dequantize__s32(const mg_dequantize_params *p, const mg_s32 *in, mg_f32 *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        out[i] = (float)((double)p->scale * ((double)in[i] - (double)p->zero_point));
    }
}
