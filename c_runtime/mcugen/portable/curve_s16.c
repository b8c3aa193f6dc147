/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/curve_s16.h"

void mg_curve_s16(const mg_curve_s16_params *p, const mg_s16 *in, mg_s16 *out, uint32_t n)
{
    const int16_t *const middle = p->table + 256;
    for (uint32_t i = 0u; i < n; i += 1u) {
        const int32_t x = in[i];
        const int16_t *const entry = middle + (x >> 7);
        const int32_t slope = (int16_t)(entry[1] - entry[0]);
        out[i] = (int16_t)(entry[0] + ((slope * (x & 0x7f) + 64) >> 7));
    }
}
