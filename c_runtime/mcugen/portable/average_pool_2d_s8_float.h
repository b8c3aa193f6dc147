/* SPDX-License-Identifier: Apache-2.0
 *
 * Mean of a sliding window over int8 images, in float32 and row by row as in ONNX Runtime; taps outside are not counted.
 *
 *   y[c] = clamp(round(sum of real[x[c] + 128] over the n taps inside / n / scale)), halves to even
 *
 * real        table from stored value + 128 to real number: compilers cannot fuse its products with the sum
 * by_columns  1: the columns of a window are summed first, top to bottom, then their sums; 0: row by row
 * inside      added to the mean before it is rounded: the zero point in QLinearAveragePool, else 0
 * zero_point  added after rounding: the zero point in QuantizeLinear, else 0
 */
#ifndef MCUGEN_AVERAGE_POOL_2D_S8_FLOAT_H
#define MCUGEN_AVERAGE_POOL_2D_S8_FLOAT_H

#include "mcugen/round_even.h"

typedef struct {
    const mg_f32 *real;
    float scale, inside;
    uint32_t kernel_h, kernel_w;
    uint32_t stride_h, stride_w;
    uint32_t pad_h, pad_w;
    uint32_t in_h, in_w;
    uint32_t out_w, channels;
    int32_t zero_point, out_min, out_max;
    uint8_t by_columns;
} mg_average_pool_2d_s8_float_params;

/* Computes output row y. rows: kernel_h input rows; rows outside the image are not read. out: out_w * channels. */
void mg_average_pool_2d_s8_float(const mg_average_pool_2d_s8_float_params *p, const int8_t *const *rows, uint32_t y, int8_t *out);

#endif /* MCUGEN_AVERAGE_POOL_2D_S8_FLOAT_H */
