/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * s8 -> s16, int8_t -> mg_s16
 * s8 -> u8, int8 -> uint8
 */
#include "mcugen/dequantize.h"

void mg_dequantize__s8(const mg_dequantize_params *p, const int8_t *in, mg_f32 *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        out[i] = p->scale * (float)(in[i] - p->zero_point);
    }
}
