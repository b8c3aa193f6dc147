/* SPDX-License-Identifier: Apache-2.0
 *
 * Fully connected layer on int16 data with int8 weights.
 *
 *   sum = sum over k of w[o][k] * x[k]
 *   y[o] = clamp(requantize(bias[o] + sum, mult, shift) + out_zero_point)
 *
 * x       int16 [n][in_len]
 * weights blocks of four outputs interleaved: [out_len / 4][in_len][4], then single outputs [in_len]
 * mult, shift  one entry for all outputs, or one per output: scale_stride is 0 or 1
 * rounds_once  1: one rounding to nearest, halves away from zero; 0: two, as in convolutions
 * sums    cannot leave 32 bits: proved when the code is generated
 *         __acc64 kernels: sums of any size, wrapped to 32 bits unless wide
 * Equals the reference runtime's FullyConnected for int16 data (wide: 16-bit multiplier and one rounding).
 */
#ifndef MCUGEN_FULLY_CONNECTED_S16_H
#define MCUGEN_FULLY_CONNECTED_S16_H

#include "mcugen/filter.h"

typedef struct {
    const int8_t *weights;
    const int64_t *bias;
    MG_INTEGER_FIELDS
    uint8_t wide;
    uint32_t in_len, out_len;
    uint8_t scale_stride, rounds_once;
} mg_fully_connected_s16_params;

/* Computes n vectors. in: n * in_len, out: n * out_len. */
void mg_fully_connected_s16(const mg_fully_connected_s16_params *p, const mg_s16 *in, mg_s16 *out, uint32_t n);
void mg_fully_connected_s16__acc64(const mg_fully_connected_s16_params *p, const mg_s16 *in, mg_s16 *out, uint32_t n);

#endif /* MCUGEN_FULLY_CONNECTED_S16_H */
