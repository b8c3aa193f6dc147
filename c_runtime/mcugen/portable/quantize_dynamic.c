/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/quantize_dynamic.h"

void mg_quantize_dynamic(const mg_quantize_dynamic_params *p, const mg_f32 *x, int8_t *q, mg_f32 *scale, int8_t *zero)
{
    for (uint32_t g = 0u; g < p->groups; g += 1u) {
        const uint32_t first = g * p->length;
        mg_quantize_range(x + first, p->length, p->symmetric, q + first, scale + g, zero + g);
    }
}
