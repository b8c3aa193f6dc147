/* SPDX-License-Identifier: Apache-2.0
 *
 * Fully connected layer on int16 data with int8 weights, each result rounded once.
 *
 *   sum = sum over k of w[o][k] * x[k]
 *   y[o] = line[o](bias[o] + sum), which scales and rounds once: line.h
 *
 * x       [n][in_len]; stored values, the zero point is folded into the bias
 * weights blocks of four outputs interleaved: [out_len / 4][in_len][4], then single outputs [in_len]
 * sums    cannot leave 32 bits: proved when the code is generated
 */
/* Copies of this file, one a line, with these words replaced:
 * s16 -> s8w16, int16 -> int8, int8 -> int16, mg_s16 -> int8_t
 */
#ifndef MCUGEN_FULLY_CONNECTED_S16_LINE_H
#define MCUGEN_FULLY_CONNECTED_S16_LINE_H

#include "mcugen/filter.h"
#include "mcugen/line.h"

typedef struct {
    const int8_t *weights;
    const int32_t *bias;
    mg_line line;
    uint32_t in_len, out_len;
} mg_fully_connected_s16_line_params;

/* Computes n vectors. in: n * in_len, out: n * out_len. */
void mg_fully_connected_s16_line(const mg_fully_connected_s16_line_params *p, const mg_s16 *in, mg_s16 *out, uint32_t n);

#endif /* MCUGEN_FULLY_CONNECTED_S16_LINE_H */
