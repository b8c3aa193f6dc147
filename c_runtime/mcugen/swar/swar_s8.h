/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution of int8 images and vectors with int8 weights, for cores that have no SIMD: two channels per
 * multiplication.
 *
 *   sum = sum over taps and channels of w[o] * x
 *   y[o] = clamp(requantize(bias[o] + sum, mult[o], shift[o]) + out_zero_point)
 *
 * x       int8 [rows of in_w * in_c]; stored values, the zero point is folded into the bias
 * stream  weights in words of two channels, in groups whose sums fit 16 bits, with all other constants, in the order in
 *         which they are read
 * sums    below 2^23, shifts to the right: proved when the code is generated
 * Equals the reference runtime's Conv2D and FullyConnected for int8 data (MultiplyByQuantizedMultiplier with double
 * rounding).
 */
#ifndef MCUGEN_SWAR_S8_H
#define MCUGEN_SWAR_S8_H

#include "mcugen/filter.h"
#include "mcugen/variant.h"

/* A pointer that may lie in the arena. */
typedef const int8_t *MCUGEN_MAY_ALIAS mg_swar_pointer;

/* pairs: number of channel pairs. kind: for depthwise convolutions, see mg_swar_lanes. taps: taps per channel.
 * outside: in_c values beyond the image, NULL for vectors. */
typedef struct {
    const uint32_t *stream;
    uint32_t pairs, taps, outputs, kind;
    int32_t out_min;
    uint32_t out_span;
    const int8_t *outside;
    MG_WINDOW_FIELDS
} mg_swar_s8_params;

/* One output row. rows: kernel_h input rows, those outside the image filled with the input's zero point.
 * out: out_w * out_c.  scratch: 4 * taps bytes. */
void mg_conv2d_s8__swar(const mg_swar_s8_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, void *scratch);

/* One output row of a depthwise convolution. taps: a multiple of 3; taps beyond the kernel's have weight 0.
 * scratch: 2 * taps pointers, unless the stack has room for them. */
#define MG_DECLARE_SWAR_DEPTHWISE(f)                                                                              \
    MG_LINKAGE void f(const mg_swar_s8_params *p, const int8_t *const *rows, uint32_t y, int8_t *out, void *scratch)

#define MG_DECLARE_depthwise_conv2d_s8__swar(f) MG_DECLARE_SWAR_DEPTHWISE(f)
#define MG_DECLARE_depthwise_conv2d_s8__swar_direct(f) MG_DECLARE_SWAR_DEPTHWISE(f)

/* n pixels of a 1x1 convolution with stride 1, or n vectors. in: n * taps, out: n * outputs.
 * scratch: 4 * taps bytes. */
void mg_conv2d_s8__swar_pointwise(const mg_swar_s8_params *p, const int8_t *in, int8_t *out, void *scratch, uint32_t n);

/* Column c of a row, or one outside the image. */
static inline const int8_t *mg_swar_column(const mg_swar_s8_params *p, const int8_t *row, uint32_t c)
{
    return c < p->in_w ? row + c * p->in_c : p->outside;
}

#endif /* MCUGEN_SWAR_S8_H */
