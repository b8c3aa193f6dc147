/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the layers with int8 weights on float data that was quantized at run time.
 *
 *   y = clamp(sum * scale + bias), sum = integer sum over taps of w * (q - zero)
 *
 * Float operations are in the order of the reference runtime, one per statement. Needs -ffp-contract=off.
 */
#ifndef MCUGEN_HYBRID_H
#define MCUGEN_HYBRID_H

#include "mcugen/filter.h"

/* scale, bias: one for each output channel. */
#define MG_HYBRID_FIELDS \
    const int8_t *weights; \
    const float *scale;    \
    const float *bias;     \
    MG_WINDOW_FIELDS       \
    uint16_t images, in_h, out_h, stride_h, dilation_h, pad_h; \
    float out_min, out_max;

static inline float mg_hybrid_result(float scaled, float bias, float low, float high)
{
    const float sum = scaled + bias;
    return mg_clamp_float(sum, low, high);
}

#endif /* MCUGEN_HYBRID_H */
