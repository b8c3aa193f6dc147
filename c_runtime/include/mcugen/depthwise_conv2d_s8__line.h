/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution of whole int8 images one pixel wide (signals in time), on cores with SMLAD: all rows together are
 * one planar row of depthwise_conv2d_s8__planar.h, whose weights and finish these are, with one kernel row.
 *
 * scratch  int16 [channel][row], with the padding
 * Equals mg_depthwise_conv2d_s8 where dsp_requantize.h equals mg_requantize: proved when the code is generated.
 */
#ifndef MCUGEN_DEPTHWISE_CONV2D_S8__LINE_H
#define MCUGEN_DEPTHWISE_CONV2D_S8__LINE_H

#include "mcugen/dsp_requantize.h"
#include "mcugen/variant.h"

typedef struct {
    const int32_t *weights;
    const int32_t *finish;
    int16_t in_zero_point, out_min, out_max;
} mg_depthwise_conv2d_s8__line_params;

#define MG_DECLARE_depthwise_conv2d_s8__line(f) \
    MG_LINKAGE void f(const mg_depthwise_conv2d_s8__line_params *p, const int8_t *in, int8_t *out, void *scratch)

#endif /* MCUGEN_DEPTHWISE_CONV2D_S8__LINE_H */
