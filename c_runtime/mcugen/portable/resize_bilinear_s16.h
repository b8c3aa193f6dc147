/* SPDX-License-Identifier: Apache-2.0
 *
 * Bilinear resize of int16 images: each output is the weighted mean of the four input pixels around its position.
 *
 * low, high: the input pixels around each position on an axis;   part: the weight of the second one, in 1024ths
 * Equals ResizeBilinear.reference_q.
 */
#ifndef MCUGEN_RESIZE_BILINEAR_S16_H
#define MCUGEN_RESIZE_BILINEAR_S16_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t images, in_h, in_w, out_h, out_w, depth;
    const uint16_t *y_low;
    const uint16_t *y_high;
    const int16_t *y_part;
    const uint16_t *x_low;
    const uint16_t *x_high;
    const int16_t *x_part;
} mg_resize_bilinear_s16_params;

void mg_resize_bilinear_s16(const mg_resize_bilinear_s16_params *p, const mg_s16 *in, mg_s16 *out);

#endif /* MCUGEN_RESIZE_BILINEAR_S16_H */
