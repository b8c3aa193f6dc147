/* SPDX-License-Identifier: Apache-2.0
 *
 * Fully connected layer on int8 data with int16 weights, sums scaled by a float32.
 *
 *   sum = sum over k of w[o][k] * x[k]
 *   y[o] = single[o](bias[o] + sum), which scales in float32: single.h
 *
 * x       [n][in_len]; stored values, the zero point is folded into the bias
 * weights blocks of four outputs interleaved: [out_len / 4][in_len][4], then single outputs [in_len]
 * sums    cannot leave 32 bits: proved when the code is generated
 */
/* Copies of this file, one a line, with these words replaced:
 * s8w16 -> s8, int16 -> int8
 */
#ifndef MCUGEN_FULLY_CONNECTED_S8W16_SINGLE_H
#define MCUGEN_FULLY_CONNECTED_S8W16_SINGLE_H

#include "mcugen/filter.h"
#include "mcugen/single.h"

typedef struct {
    const int16_t *weights;
    const int32_t *bias;
    mg_single single;
    uint32_t in_len, out_len;
} mg_fully_connected_s8w16_single_params;

/* Computes n vectors. in: n * in_len, out: n * out_len. */
void mg_fully_connected_s8w16_single(const mg_fully_connected_s8w16_single_params *p, const int8_t *in, int8_t *out, uint32_t n);

#endif /* MCUGEN_FULLY_CONNECTED_S8W16_SINGLE_H */
