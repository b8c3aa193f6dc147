/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution of int8 images on cores with SMLAD: rows are kept as int16, channel by channel, so that the taps
 * of a kernel row are neighbours.
 *
 *   y[c] = clamp(((sum * mult[c]) / 2^32 rounded + addend[c]) / 2^n[c]), sum = 2 * (bias[c] + sum over taps of w * x)
 *
 * ring    [channel][slot][column] int16: the stored values, the input's zero point beyond the image
 * weights per channel the kernel rows 0 .. h - 1, 0 .. h - 2, so that h of them follow in the order of the slots wherever
 *         row 0 stands; of a row pairs of taps (0, 1), (1, 2) ... or, where the stride is even, (0, 1), (2, 3) ..., the
 *         first in the low half; doubled
 * finish  per channel the sum to begin with, mult, addend, n
 * Equals mg_depthwise_conv2d_s8 where dsp_requantize.h equals mg_requantize: proved when the code is generated.
 */
#ifndef MCUGEN_DEPTHWISE_CONV2D_S8__PLANAR_H
#define MCUGEN_DEPTHWISE_CONV2D_S8__PLANAR_H

#include "mcugen/dsp_requantize.h"
#include "mcugen/variant.h"

typedef struct {
    const int32_t *weights;
    const int32_t *finish;
    int16_t in_zero_point, out_min, out_max;
} mg_depthwise_conv2d_s8__planar_params;

/* _row: an input row, or one outside the image, to its slot.  The kernel: one output row. rows: h slots, in the order of
 * the kernel's rows, which is that of memory but for where it begins. */
#define MG_DECLARE_depthwise_conv2d_s8__planar(f)                                                                      \
    MG_LINKAGE void MG_PART(f, row)(const mg_depthwise_conv2d_s8__planar_params *p, const int8_t *in, mg_s16 *row);    \
    MG_LINKAGE void f(const mg_depthwise_conv2d_s8__planar_params *p, const mg_s16 *const *rows, int8_t *out)

#endif /* MCUGEN_DEPTHWISE_CONV2D_S8__PLANAR_H */
