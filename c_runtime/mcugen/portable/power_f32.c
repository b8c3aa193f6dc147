/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/power_f32.h"

void mg_power_f32(const mg_f32 *in, mg_f32 *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        const float re = in[2u * i], im = in[2u * i + 1u];
        const float left = re * re, right = im * im;
        out[i] = left + right;
    }
}
