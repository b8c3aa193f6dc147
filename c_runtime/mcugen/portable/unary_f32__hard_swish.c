/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/unary_f32.h"

void mg_unary_f32__hard_swish(const mg_f32 *in, mg_f32 *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        const float x = in[i];
        const float raised = x + 3.0f;
        const float floored = raised < 0.0f ? 0.0f : raised;
        const float gate = floored > 6.0f ? 6.0f : floored;
        out[i] = x * gate / 6.0f;
    }
}
