/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/yuv_pair.h"

void mg_yuv_to_rgb__planes(const mg_yuv_to_rgb_params *p, const uint8_t *luma, const uint8_t *chroma, uint8_t *out, uint32_t n)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        mg_yuv_pair(p, luma[2u * i], luma[2u * i + 1u], chroma[2u * i], chroma[2u * i + 1u], out + 6u * i);
    }
}
