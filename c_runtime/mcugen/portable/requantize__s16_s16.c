/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/requantize.h"

void mg_requantize__s16_s16(const mg_requantize_params *p, const mg_s16 *in, mg_s16 *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        out[i] = (int16_t)mg_requantized(p, in[i]);
    }
}
