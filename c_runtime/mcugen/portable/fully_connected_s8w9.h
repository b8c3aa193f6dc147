/* SPDX-License-Identifier: Apache-2.0
 *
 * Fully connected layer on int8 data with weights of nine bits stored in eight.
 *
 *   sum = sum over k of (w[o][k] - zero) * x[k]
 *   y[o] = clamp(requantize(bias[o] + sum, mult, shift) + out_zero_point)
 *
 * x       int8 [n][in_len]; stored values, the zero point is folded into the bias
 * weights blocks of four outputs interleaved: [out_len / 4][in_len][4], then single outputs [in_len]
 * mult, shift  one entry for all outputs, or one per output: scale_stride is 0 or 1
 * rounds_once  1: one rounding to nearest, halves away from zero; 0: two, as in convolutions
 * sums    the sums with stored weights and the sums of the data times zero cannot leave 32 bits: proved when the code
 *         is generated
 * Equals the reference runtime's FullyConnected for int8 data.
 */
#ifndef MCUGEN_FULLY_CONNECTED_S8W9_H
#define MCUGEN_FULLY_CONNECTED_S8W9_H

#include "mcugen/filter.h"
#include "mcugen/nine.h"

typedef struct {
    const uint8_t *weights;
    const int32_t *bias;
    MG_INTEGER_FIELDS
    uint32_t in_len, out_len;
    uint8_t scale_stride, rounds_once, zero;
} mg_fully_connected_s8w9_params;

/* Computes n vectors. in: n * in_len, out: n * out_len. */
void mg_fully_connected_s8w9(const mg_fully_connected_s8w9_params *p, const int8_t *in, int8_t *out, uint32_t n);

#endif /* MCUGEN_FULLY_CONNECTED_S8W9_H */
