/* SPDX-License-Identifier: Apache-2.0
 *
 * Fully connected layer on int8 data with weights of nine bits stored in eight, each result rounded once.
 *
 *   sum = sum over k of (w[o][k] - zero) * x[k]
 *   y[o] = line[o](bias[o] + sum), which scales and rounds once: line.h
 *
 * x       [n][in_len]; stored values, the zero point is folded into the bias
 * weights blocks of four outputs interleaved: [out_len / 4][in_len][4], then single outputs [in_len]
 * sums    the sums with stored weights and the sums of the data times zero cannot leave 32 bits: proved when the code
 *         is generated
 */
#ifndef MCUGEN_FULLY_CONNECTED_S8W9_LINE_H
#define MCUGEN_FULLY_CONNECTED_S8W9_LINE_H

#include "mcugen/filter.h"
#include "mcugen/line.h"
#include "mcugen/nine.h"

typedef struct {
    const uint8_t *weights;
    const int32_t *bias;
    mg_line line;
    uint32_t in_len, out_len;
    uint8_t zero;
} mg_fully_connected_s8w9_line_params;

/* Computes n vectors. in: n * in_len, out: n * out_len. */
void mg_fully_connected_s8w9_line(const mg_fully_connected_s8w9_line_params *p, const int8_t *in, int8_t *out, uint32_t n);

#endif /* MCUGEN_FULLY_CONNECTED_S8W9_LINE_H */
