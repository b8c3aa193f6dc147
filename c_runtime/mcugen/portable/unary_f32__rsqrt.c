/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/unary_f32.h"

#include <math.h>

void mg_unary_f32__rsqrt(const mg_f32 *in, mg_f32 *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        const float x = in[i];
        out[i] = 1.0f / sqrtf(x);
    }
}
