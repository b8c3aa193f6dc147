/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/rgb565.h"

void mg_rgb565(const mg_rgb565_params *p, const uint8_t *in, uint8_t *out, uint32_t n)
{
    const uint8_t *const uppers = in + p->upper, *const lowers = in + (1u - p->upper);
    for (uint32_t i = 0u; i < n; i += 1u) {
        const uint32_t upper = uppers[2u * i], lower = lowers[2u * i], green = ((upper & 7u) << 3) | (lower >> 5);
        out[3u * i] = (uint8_t)((upper & 0xF8u) | (upper >> 5));
        out[3u * i + 1u] = (uint8_t)((green << 2) | (green >> 4));
        out[3u * i + 2u] = (uint8_t)(((lower << 3) & 0xF8u) | ((lower >> 2) & 7u));
    }
}
