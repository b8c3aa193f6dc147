/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/leaky_relu_f32.h"

void mg_leaky_relu_f32(const mg_leaky_relu_f32_params *p, const mg_f32 *in, mg_f32 *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        const float x = in[i];
        out[i] = x > 0.0f ? x : p->alpha * x;
    }
}
