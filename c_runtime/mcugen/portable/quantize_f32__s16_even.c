/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * s16_even -> s16, quantized_even -> quantized
 * s16_even -> s8, mg_s16 -> int8_t, int16 -> int8, quantized_even -> quantized
 * s16 -> s8, mg_s16 -> int8_t, int16 -> int8
 * s16_even -> u8, mg_s16 -> uint8_t, int16 -> uint8, quantized_even -> quantized
 * s16 -> u8, mg_s16 -> uint8_t, int16 -> uint8
 */
#include "mcugen/quantize_f32.h"

void mg_quantize_f32__s16_even(const mg_quantize_f32_params *p, const mg_f32 *in, mg_s16 *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        out[i] = (int16_t)mg_quantized_even(p, in[i]);
    }
}
