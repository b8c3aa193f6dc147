/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/tanh_s16.h"

void mg_tanh_s16(const mg_tanh_s16_params *p, const mg_s16 *in, mg_s16 *out, uint32_t n)
{
    const int32_t half = (int32_t)(((uint32_t)1 << p->shift) >> 1);
    const int32_t one = (int32_t)1 << 23;
    for (uint32_t i = 0u; i < n; i += 1u) {
        const int32_t x = (in[i] * p->mult + half) >> p->shift;
        const uint32_t size = (uint32_t)(x < 0 ? -x : x);
        const uint32_t at = size >> 8;
        int32_t y = (int32_t)UINT16_MAX << 8;
        if (at < 255u) {
            const int32_t low = p->table[at];
            const int32_t high = p->table[at + 1u];
            y = (low << 8) + (int32_t)(size & 0xffu) * (high - low);
        }
        out[i] = (int16_t)((x < 0 ? one - y + 127 : y - one + 128) >> 8);
    }
}
