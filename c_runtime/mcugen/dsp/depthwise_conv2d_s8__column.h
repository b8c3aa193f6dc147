/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution along the rows of int8 images one pixel wide (signals in time), on cores with SMLAD: the ring
 * is transposed, so that a channel's values of all rows are neighbours.
 *
 *   y[c] = clamp(((sum * mult[c]) / 2^32 rounded + addend[c]) / 2^n[c]), sum = 2 * (bias[c] + sum over rows of w * x)
 *
 * ring    [channel][slot] int16, an even number of slots; the stored values, or the input's zero point
 * weights per channel w0 .. w(h-1), w0 .. w(h-2) in pairs, two to a word; then the same from w1 on: h of them follow in
 *         the order of the slots wherever row 0 stands; doubled
 * finish  per channel: initial sum, multiplier, addend, shift n
 * Equals mg_depthwise_conv2d_s8 where dsp_requantize.h equals mg_requantize: proved when the code is generated.
 */
#ifndef MCUGEN_DEPTHWISE_CONV2D_S8__COLUMN_H
#define MCUGEN_DEPTHWISE_CONV2D_S8__COLUMN_H

#include "mcugen/little_endian.h"
#include "mcugen/dsp_requantize.h"
#include "mcugen/variant.h"

typedef struct {
    const int32_t *weights;
    const int32_t *finish;
    int16_t in_zero_point, out_min, out_max;
} mg_depthwise_conv2d_s8__column_params;

/* _row: stores an input row, or one outside the image, in its slot.  The kernel: one output row. rows: h slots in the
 * order of the kernel's rows, which is that of memory, rotated. */
#define MG_DECLARE_depthwise_conv2d_s8__column(f)                                                                      \
    MG_LINKAGE void MG_PART(f, row)(const mg_depthwise_conv2d_s8__column_params *p, const int8_t *in, mg_s16 *row);    \
    MG_LINKAGE void f(const mg_depthwise_conv2d_s8__column_params *p, const mg_s16 *const *rows, int8_t *out)

#endif /* MCUGEN_DEPTHWISE_CONV2D_S8__COLUMN_H */
