/* SPDX-License-Identifier: Apache-2.0
 *
 * Fully connected layer on int8 data with int16 weights.
 *
 *   sum = sum over k of w[o][k] * x[k]
 *   y[o] = clamp(requantize(bias[o] + sum, mult, shift) + out_zero_point)
 *
 * x       int8 [n][in_len]; stored values, the zero point is folded into the bias
 * weights blocks of four outputs interleaved: [out_len / 4][in_len][4], then single outputs [in_len]
 * mult, shift  one entry for all outputs, or one per output: scale_stride is 0 or 1
 * rounds_once  1: one rounding to nearest, halves away from zero; 0: two, as in convolutions
 * sums    cannot leave 32 bits: proved when the code is generated
 *         __acc64 kernels: sums of any size, wrapped to 32 bits
 * Equals the reference runtime's FullyConnected for int8 data.
 */
#ifndef MCUGEN_FULLY_CONNECTED_S8W16_H
#define MCUGEN_FULLY_CONNECTED_S8W16_H

#include "mcugen/filter.h"

typedef struct {
    const int16_t *weights;
    const int32_t *bias;
    MG_INTEGER_FIELDS
    uint32_t in_len, out_len;
    uint8_t scale_stride, rounds_once;
} mg_fully_connected_s8w16_params;

/* Computes n vectors. in: n * in_len, out: n * out_len. */
void mg_fully_connected_s8w16(const mg_fully_connected_s8w16_params *p, const int8_t *in, int8_t *out, uint32_t n);
void mg_fully_connected_s8w16__acc64(const mg_fully_connected_s8w16_params *p, const int8_t *in, int8_t *out, uint32_t n);

#endif /* MCUGEN_FULLY_CONNECTED_S8W16_H */
