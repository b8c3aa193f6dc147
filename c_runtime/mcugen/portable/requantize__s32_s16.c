/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * s32 -> s16
 * s32_s16 -> s16_s8, s32 -> s16, mg_s16 -> int8_t, int16 -> int8
 * s16 -> s8, mg_s16 -> int8_t, int16 -> int8
 * s32 -> s8, mg_s32 -> int8_t
 * s32 -> u8, mg_s32 -> uint8_t
 */
#include "mcugen/requantize.h"

void mg_requantize__s32_s16(const mg_requantize_params *p, const mg_s32 *in, mg_s16 *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        out[i] = (int16_t)mg_requantized(p, in[i]);
    }
}
