/* SPDX-License-Identifier: Apache-2.0
 *
 * Bilinear resize of images of data that was uint8 before its top bit was flipped: each output is the weighted mean of
 * the four input pixels around its position, in float32.
 *
 * low, high: the input pixels around each position on an axis;   first, part: their weights
 * Equals ResizeBilinear.reference_q.
 */
#ifndef MCUGEN_RESIZE_BILINEAR_U8_H
#define MCUGEN_RESIZE_BILINEAR_U8_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t images, in_h, in_w, out_h, out_w, depth;
    const uint16_t *y_low;
    const uint16_t *y_high;
    const float *y_first;
    const float *y_part;
    const uint16_t *x_low;
    const uint16_t *x_high;
    const float *x_first;
    const float *x_part;
} mg_resize_bilinear_u8_params;

void mg_resize_bilinear_u8(const mg_resize_bilinear_u8_params *p, const int8_t *in, int8_t *out);

#endif /* MCUGEN_RESIZE_BILINEAR_U8_H */
