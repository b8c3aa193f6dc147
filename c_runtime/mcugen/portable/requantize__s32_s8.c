/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/requantize.h"

void mg_requantize__s32_s8(const mg_requantize_params *p, const mg_s32 *in, int8_t *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        out[i] = (int8_t)mg_requantized(p, in[i]);
    }
}
