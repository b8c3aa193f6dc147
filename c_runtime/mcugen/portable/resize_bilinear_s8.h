/* SPDX-License-Identifier: Apache-2.0
 *
 * Bilinear resize of int8 images: each output is the weighted mean of the four input pixels around its position.
 *
 * low, high: the input pixels around each position on an axis;   part: the weight of the second one, in 1024ths
 * Equals ResizeBilinear.reference_q.
 */
/* Copies of this file, one a line, with these words replaced:
 * s8 -> s16, int8_t -> mg_s16, int8 -> int16
 */
#ifndef MCUGEN_RESIZE_BILINEAR_S8_H
#define MCUGEN_RESIZE_BILINEAR_S8_H

#include "mcugen/runtime.h"

typedef struct {
    uint32_t images, in_h, in_w, out_h, out_w, depth;
    const uint16_t *y_low;
    const uint16_t *y_high;
    const int16_t *y_part;
    const uint16_t *x_low;
    const uint16_t *x_high;
    const int16_t *x_part;
} mg_resize_bilinear_s8_params;

void mg_resize_bilinear_s8(const mg_resize_bilinear_s8_params *p, const int8_t *in, int8_t *out);

#endif /* MCUGEN_RESIZE_BILINEAR_S8_H */
