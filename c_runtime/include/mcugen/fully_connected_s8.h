/* SPDX-License-Identifier: Apache-2.0
 *
 * Fully connected layer on int8 data with int8 weights.
 *
 *   y[o] = clamp(requantize(bias[o] + sum over k of w[o][k] * x[k], mult, shift) + out_zero_point)
 *
 * x       int8 [n][in_len]; stored values, the zero point is folded into the bias
 * weights blocks of four outputs interleaved: [out_len / 4][in_len][4], then single outputs [in_len]
 * mult, shift  one entry for all outputs, or one per output: scale_stride is 0 or 1
 * rounds_once  0: MultiplyByQuantizedMultiplier with double rounding; 1: with a single one
 * sums    cannot leave 32 bits: proved when the code is generated
 * Equals FullyConnected.reference_q for int8.
 */
#ifndef MCUGEN_FULLY_CONNECTED_S8_H
#define MCUGEN_FULLY_CONNECTED_S8_H

#include "mcugen/runtime.h"

typedef struct {
    const int8_t *weights;
    const int32_t *bias;
    const int32_t *mult;
    const int8_t *shift;
    uint32_t in_len, out_len;
    int16_t out_zero_point, out_min, out_max;
    uint8_t scale_stride, rounds_once;
} mg_fully_connected_s8_params;

/* n vectors. in: n * in_len, out: n * out_len. */
void mg_fully_connected_s8(const mg_fully_connected_s8_params *p, const int8_t *in, int8_t *out, uint32_t n);

#endif /* MCUGEN_FULLY_CONNECTED_S8_H */
