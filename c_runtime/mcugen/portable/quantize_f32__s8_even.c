/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/quantize_f32.h"

void mg_quantize_f32__s8_even(const mg_quantize_f32_params *p, const mg_f32 *in, int8_t *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        out[i] = (int8_t)mg_quantized_even(p, in[i]);
    }
}
