/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts two pixels that share U and V, by the formula of mcugen/yuv_to_rgb.h.
 */
#ifndef MCUGEN_YUV_PAIR_H
#define MCUGEN_YUV_PAIR_H

#include "mcugen/yuv_to_rgb.h"

static MCUGEN_INLINE void mg_yuv_pixel(uint8_t *out, int32_t a, int32_t red, int32_t green, int32_t blue)
{
    out[0] = (uint8_t)mg_clamp((a + red) >> 16, 0, 255);
    out[1] = (uint8_t)mg_clamp((a + green) >> 16, 0, 255);
    out[2] = (uint8_t)mg_clamp((a + blue) >> 16, 0, 255);
}

/* first, second: Y of the two pixels. */
static MCUGEN_INLINE void mg_yuv_pair(
    const mg_yuv_to_rgb_params *p, uint32_t first, uint32_t second, uint32_t u_byte, uint32_t v_byte, uint8_t *out)
{
    const int32_t u = (int32_t)u_byte - 128, v = (int32_t)v_byte - 128;
    const int32_t red = p->red_v * v + (1 << 15), blue = p->blue_u * u + (1 << 15);
    const int32_t green = p->green_u * u + p->green_v * v + (1 << 15);
    const int32_t a = (int32_t)first - p->black, b = (int32_t)second - p->black;
    mg_yuv_pixel(out, a < 0 ? 0 : p->y * a, red, green, blue);
    mg_yuv_pixel(out + 3, b < 0 ? 0 : p->y * b, red, green, blue);
}

#endif /* MCUGEN_YUV_PAIR_H */
