/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/logistic_s16.h"

void mg_logistic_s16(const mg_logistic_s16_params *p, const mg_s16 *in, mg_s16 *out, uint32_t n)
{
    const int32_t half = (int32_t)(((uint32_t)1 << p->shift) >> 1);
    for (uint32_t i = 0u; i < n; i += 1u) {
        const int32_t x = (in[i] * p->mult + half) >> p->shift;
        const uint32_t size = (uint32_t)(x < 0 ? -x : x);
        const uint32_t at = size >> 9;
        uint32_t y = (uint32_t)INT16_MAX << 10;
        if (at < 255u) {
            const uint32_t low = p->table[at];
            const uint32_t high = p->table[at + 1u];
            y = (low << 9) + (size & 0x1ffu) * (high - low);
        }
        out[i] = (int16_t)((x < 0 ? ((uint32_t)1 << 25) - y + 511u : y + 512u) >> 10);
    }
}
