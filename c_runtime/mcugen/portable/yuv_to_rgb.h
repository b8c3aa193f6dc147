/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts Y, U and V to red, green and blue. Two adjacent pixels share U and V.
 *
 *   r = a + red_v v, g = a + green_u u + green_v v, b = a + blue_u u
 *   with a = y max(Y - black, 0), u = U - 128, v = V - 128; clamped to bytes
 *
 * Factors have 16 fractional bits; sums are rounded to nearest and fit 32 bits.  n: number of pairs of pixels
 */
#ifndef MCUGEN_YUV_TO_RGB_H
#define MCUGEN_YUV_TO_RGB_H

#include "mcugen/runtime.h"

typedef struct {
    int32_t black, y;
    int32_t red_v, green_u, green_v, blue_u;
} mg_yuv_to_rgb_params;

/* in: Y, U, Y, V of each pair. */
void mg_yuv_to_rgb__packed(const mg_yuv_to_rgb_params *p, const uint8_t *in, uint8_t *out, uint32_t n);
/* luma: Y, Y of each pair; chroma: U, V. */
void mg_yuv_to_rgb__planes(const mg_yuv_to_rgb_params *p, const uint8_t *luma, const uint8_t *chroma, uint8_t *out, uint32_t n);

#endif /* MCUGEN_YUV_TO_RGB_H */
