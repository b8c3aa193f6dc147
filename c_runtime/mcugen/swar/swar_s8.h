/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of int8 images and vectors with int8 weights for cores without SIMD: a multiplication serves two
 * channels.
 *
 *   sum = sum over taps and channels of w[o] * x
 *   y[o] = clamp(requantize(bias[o] + sum, mult[o], shift[o]) + out_zero_point)
 *
 * x       int8 [rows of in_w * in_c]: stored values; their zero point is folded into the bias
 * stream  weights in words of two channels, in groups whose sums fit 16 bits, and all other constants, in the order in
 *         which they are read
 * sums    are below 2^23, shifts are to the right: proved when the code is generated
 * Equals the reference runtime's Conv2D and FullyConnected for int8 data (MultiplyByQuantizedMultiplier with double
 * rounding).
 */
#ifndef MCUGEN_SWAR_S8_H
#define MCUGEN_SWAR_S8_H

#include "mcugen/filter.h"
#include "mcugen/variant.h"

/* A pointer that may lie in the arena. */
typedef const int8_t *MCUGEN_MAY_ALIAS mg_swar_pointer;

/* pairs: number of pairs of channels. kind: for depthwise convolutions, see mg_swar_lanes. taps: number of taps of a
 * channel. outside: in_c values of taps outside the image; NULL for vectors. */
typedef struct {
    const uint32_t *stream;
    uint32_t pairs, taps, outputs, kind;
    int32_t out_min;
    uint32_t out_span;
    const int8_t *outside;
    MG_WINDOW_FIELDS
} mg_swar_s8_params;

/* Computes one output row. rows: kernel_h input rows; rows outside the image are filled with the input's zero point.
 * out: out_w * out_c. scratch: 4 * taps bytes. */
void mg_conv2d_s8__swar(const mg_swar_s8_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, void *scratch);

/* Computes one output row of a depthwise convolution. taps: a multiple of 3; taps behind the kernel's have weight 0.
 * scratch: 2 * taps pointers; not used if they are on the stack. */
#define MG_DECLARE_SWAR_DEPTHWISE(f)                                                                              \
    MG_LINKAGE void f(const mg_swar_s8_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, void *scratch)

#define MG_DECLARE_depthwise_conv2d_s8__swar(f) MG_DECLARE_SWAR_DEPTHWISE(f)
#define MG_DECLARE_depthwise_conv2d_s8__swar_direct(f) MG_DECLARE_SWAR_DEPTHWISE(f)

/* Computes n pixels of a 1x1 convolution with stride 1, or n vectors. in: n * taps, out: n * outputs. scratch: 4 * taps
 * bytes. */
void mg_conv2d_s8__swar_pointwise(const mg_swar_s8_params *p, const int8_t *in, int8_t *out, void *scratch, uint32_t n);

/* Column c of a row; `outside` if there is no such column. */
static inline const int8_t *mg_swar_column(const mg_swar_s8_params *p, const int8_t *row, uint32_t c)
{
    return c < p->in_w ? row + c * p->in_c : p->outside;
}

#endif /* MCUGEN_SWAR_S8_H */
