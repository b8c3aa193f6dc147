/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of int16 images with int8 weights, one multiplier per output channel.
 *
 *   sum = sum over taps and channels of w[o] * x
 *   y[o] = clamp(requantize(bias[o] + sum, mult[o], shift[o]) + out_zero_point)
 *
 * x       int16 [rows of in_w * in_c]
 * weights [groups] of: pairs of output channels interleaved [group_out_c / 2][kernel_h][kernel_w][group_in_c][2], then an
 *         odd last channel [kernel_h][kernel_w][group_in_c]
 * sums    cannot leave 32 bits: proved when the code is generated
 *         __acc64 kernels: sums of any size, wrapped to 32 bits unless wide
 * Equals the reference runtime's Conv2D for int16 data (wide: 16-bit multiplier and one rounding).
 */
#ifndef MCUGEN_CONV2D_S16_H
#define MCUGEN_CONV2D_S16_H

#include "mcugen/filter.h"

typedef struct {
    const int8_t *weights;
    const int64_t *bias;
    MG_WINDOW_FIELDS
    MG_INTEGER_FIELDS
    uint8_t wide;
    uint16_t groups, group_in_c, group_out_c;
} mg_conv2d_s16_params;

/* Computes one output row. rows: kernel_h input rows; rows outside the image are filled with zeros.
 * out: out_w * out_c.  scratch: 2 * kernel_h * kernel_w * group_in_c elements. */
void mg_conv2d_s16(const mg_conv2d_s16_params *p, const mg_s16 *const *rows, uint32_t y, mg_s16 *out, mg_s16 *scratch);
void mg_conv2d_s16__acc64(const mg_conv2d_s16_params *p, const mg_s16 *const *rows, uint32_t y, mg_s16 *out,
                          mg_s16 *scratch);

/* Computes n pixels of a 1x1 convolution with stride 1. in: n * in_c, out: n * out_c. */
void mg_conv2d_s16__pointwise(const mg_conv2d_s16_params *p, const mg_s16 *in, mg_s16 *out, uint32_t n);

#endif /* MCUGEN_CONV2D_S16_H */
