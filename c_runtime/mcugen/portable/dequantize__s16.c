/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/dequantize.h"

void mg_dequantize__s16(const mg_dequantize_params *p, const mg_s16 *in, mg_f32 *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        out[i] = p->scale * (float)(in[i] - p->zero_point);
    }
}
