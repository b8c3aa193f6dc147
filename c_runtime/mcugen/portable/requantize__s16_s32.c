/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * s16 -> s8, mg_s16 -> int8_t
 */
#include "mcugen/requantize.h"

void mg_requantize__s16_s32(const mg_requantize_params *p, const mg_s16 *in, mg_s32 *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        out[i] = mg_requantized(p, in[i]);
    }
}
