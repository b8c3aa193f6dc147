/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/yuv_pair.h"

void mg_yuv_to_rgb__packed(const mg_yuv_to_rgb_params *p, const uint8_t *in, uint8_t *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        const uint8_t *const from = in + 4u * i;
        mg_yuv_pair(p, from[0], from[2], from[1], from[3], out + 6u * i);
    }
}
